import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { createTeam, deleteTeam, getTeam, listTeams, updateTeam } from '../../domain/identity/index.js';
import { Team } from '../../entities/identity/team.js';
import { Permission } from '../permission.js';
import { CreateTeamInput, TeamPage, TeamsArgs, UpdateTeamInput } from './team-types.js';

@Resolver(() => Team)
export class TeamResolver {
  @Query(() => TeamPage, { description: "All teams, or one's own, as far as allowed." })
  @Permission({ itsm: 'teams:read:own' })
  teams(@Ctx() context: RequestContext, @Args(() => TeamsArgs) query: TeamsArgs): Promise<TeamPage> {
    return listTeams(context, query);
  }

  @Query(() => Team)
  @Permission({ itsm: 'teams:read:own' })
  team(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<Team> {
    return getTeam(context, id);
  }

  @Mutation(() => Team)
  @Permission({ itsm: 'teams:create:all' })
  createTeam(
    @Ctx() context: RequestContext,
    @Arg('input', () => CreateTeamInput) input: CreateTeamInput,
  ): Promise<Team> {
    return createTeam(context, input);
  }

  @Mutation(() => Team)
  @Permission({ itsm: 'teams:update:all' })
  updateTeam(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => UpdateTeamInput) input: UpdateTeamInput,
  ): Promise<Team> {
    return updateTeam(context, id, input);
  }

  @Mutation(() => Boolean, { description: 'Not while the team has tickets that are not closed.' })
  @Permission({ itsm: 'teams:delete:all' })
  async deleteTeam(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<boolean> {
    await deleteTeam(context, id);
    return true;
  }

  @FieldResolver(() => [ID])
  memberIds(@Root() { id }: Team, @Ctx() { loaders }: RequestContext): Promise<string[]> {
    return loaders.memberIdsOfTeam.load(id);
  }
}
