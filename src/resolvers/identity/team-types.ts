import { ArgsType, Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { type TeamSortField, teamSortFields } from '../../domain/identity/index.js';
import { Team } from '../../entities/identity/team.js';
import { PageArgs, PageOf } from '../page.js';

const TeamSort = Object.fromEntries(teamSortFields.map((field) => [field, field]));
registerEnumType(TeamSort, { name: 'TeamSortField' });

@ObjectType()
export class TeamPage extends PageOf {
  @Field(() => [Team])
  data!: Team[];
}

@ArgsType()
export class TeamsArgs extends PageArgs {
  @Field(() => TeamSort, { nullable: true, description: 'createdAt when absent.' })
  sortBy?: TeamSortField | null;
}

@InputType()
export class CreateTeamInput {
  @Field(() => String, { description: '1 to 255 characters, unique in the organization.' })
  name!: string;

  @Field(() => [ID], { nullable: true, description: 'At most 1,000 active users.' })
  memberIds?: string[] | null;
}

@InputType({ description: 'What is absent stays as it is.' })
export class UpdateTeamInput {
  @Field(() => String, { nullable: true })
  name?: string;

  @Field(() => [ID], { nullable: true, description: 'Replaced as a whole.' })
  memberIds?: string[];
}
