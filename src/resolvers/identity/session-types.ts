import { Field, ObjectType } from 'type-graphql';
import { Session } from '../../entities/identity/session.js';
import { PageOf } from '../page.js';

@ObjectType()
export class SessionPage extends PageOf {
  @Field(() => [Session])
  data!: Session[];
}

@ObjectType()
export class TokenRevocation {
  @Field(() => Boolean, { description: 'False for a token that was no good any more.' })
  revoked!: boolean;
}
