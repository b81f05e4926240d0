import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import {
  createUser,
  deactivateUser,
  getMe,
  getUser,
  listUsers,
  updateUser,
} from '../../domain/identity/index.js';
import { User } from '../../entities/identity/user.js';
import { Permission } from '../permission.js';
import { CreateUserInput, UpdateUserInput, UserPage, UsersArgs } from './user-types.js';

@Resolver(() => User)
export class UserResolver {
  @Query(() => UserPage, { description: 'Oneself, whoever shares a team, or everybody, as far as allowed.' })
  @Permission({ itsm: 'users:read:own' })
  users(@Ctx() context: RequestContext, @Args(() => UsersArgs) query: UsersArgs): Promise<UserPage> {
    return listUsers(context, query);
  }

  @Query(() => User)
  @Permission({ itsm: 'users:read:own' })
  user(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<User> {
    return getUser(context, id);
  }

  @Query(() => User, { description: 'Whose credential it is.' })
  @Permission({ itsm: 'users:read:own' })
  me(@Ctx() context: RequestContext): Promise<User> {
    return getMe(context);
  }

  @Mutation(() => User, { description: 'A new user gets a link by e-mail that sets a password.' })
  @Permission({ itsm: 'users:create:all' })
  createUser(
    @Ctx() context: RequestContext,
    @Arg('input', () => CreateUserInput) input: CreateUserInput,
  ): Promise<User> {
    return createUser(context, input);
  }

  @Mutation(() => User, { description: 'A new role counts from the next login or refresh on.' })
  @Permission({ itsm: 'users:update:all' })
  updateUser(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID) id: string,
    @Arg('input', () => UpdateUserInput) input: UpdateUserInput,
  ): Promise<User> {
    return updateUser(context, id, input);
  }

  @Mutation(() => User, { description: 'Ends all sessions; the user can no longer log in.' })
  @Permission({ itsm: 'users:delete:all' })
  deactivateUser(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<User> {
    return deactivateUser(context, id);
  }

  @FieldResolver(() => [ID])
  teamIds(@Root() { id }: User, @Ctx() { loaders }: RequestContext): Promise<string[]> {
    return loaders.teamIdsOfUser.load(id);
  }
}
