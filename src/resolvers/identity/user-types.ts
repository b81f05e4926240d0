import { ArgsType, Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { type UserSortField, userSortFields } from '../../domain/identity/index.js';
import { User, UserRole } from '../../entities/identity/user.js';
import { PageArgs, PageOf } from '../page.js';

const UserSort = Object.fromEntries(userSortFields.map((field) => [field, field]));
registerEnumType(UserSort, { name: 'UserSortField' });

@ObjectType()
export class UserPage extends PageOf {
  @Field(() => [User])
  data!: User[];
}

@InputType({ description: 'Several values of one field mean any of them; the fields all count.' })
export class UserFilterInput {
  @Field(() => [UserRole], { nullable: true })
  role?: UserRole[] | null;

  @Field(() => [ID], { nullable: true, description: 'Members of any of them.' })
  teamId?: string[] | null;

  @Field(() => Boolean, { nullable: true })
  active?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Part of the name or the e-mail address.' })
  q?: string | null;
}

@ArgsType()
export class UsersArgs extends PageArgs {
  @Field(() => UserFilterInput, { nullable: true })
  filter?: UserFilterInput | null;

  @Field(() => UserSort, { nullable: true, description: 'createdAt when absent.' })
  sortBy?: UserSortField | null;
}

@InputType()
export class CreateUserInput {
  @Field(() => String, { description: 'Unique over the installation.' })
  email!: string;

  @Field(() => String, { description: '1 to 255 characters, not blank.' })
  name!: string;

  @Field(() => UserRole, { description: "Not above the caller's." })
  role!: UserRole;

  @Field(() => [ID], { nullable: true, description: 'At most 100.' })
  teamIds?: string[] | null;
}

@InputType({ description: 'What is absent stays as it is.' })
export class UpdateUserInput {
  @Field(() => String, { nullable: true })
  email?: string;

  @Field(() => String, { nullable: true })
  name?: string;

  @Field(() => UserRole, { nullable: true, description: "Not above the caller's." })
  role?: UserRole;

  @Field(() => [ID], { nullable: true, description: 'Replaced as a whole.' })
  teamIds?: string[];

  @Field(() => Boolean, {
    nullable: true,
    description: 'false does what deactivateUser does; true undoes it.',
  })
  active?: boolean;
}
