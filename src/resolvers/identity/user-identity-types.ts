import { Field, InputType, ObjectType } from 'type-graphql';
import { UserIdentity } from '../../entities/identity/user-identity.js';
import { PageOf } from '../page.js';

@ObjectType()
export class UserIdentityPage extends PageOf {
  @Field(() => [UserIdentity])
  data!: UserIdentity[];
}

@InputType()
export class LinkIdentityInput {
  @Field(() => String, { description: 'A platform access token of the subject that is the caller.' })
  platformToken!: string;
}
