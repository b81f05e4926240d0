import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import {
  endOwnSession,
  listOwnSessions,
  listUserSessions,
  revokeToken,
  revokeUserSessions,
} from '../../domain/identity/index.js';
import { Session } from '../../entities/identity/session.js';
import { PageArgs } from '../page.js';
import { Permission } from '../permission.js';
import { RevokeTokenInput } from './auth-inputs.js';
import { LogoutResult } from './auth-results.js';
import { SessionPage, TokenRevocation } from './session-types.js';

@Resolver(() => Session)
export class SessionResolver {
  @Query(() => SessionPage, { description: 'The active sessions of the caller, newest first.' })
  @Permission({ itsm: 'sessions:manage:own' })
  sessions(@Ctx() context: RequestContext, @Args(() => PageArgs) query: PageArgs): Promise<SessionPage> {
    return listOwnSessions(context, query);
  }

  @Query(() => SessionPage, { description: 'The active sessions of a user of the organization.' })
  @Permission({ itsm: 'sessions:read:all' })
  userSessions(
    @Ctx() context: RequestContext,
    @Arg('userId', () => ID) userId: string,
    @Args(() => PageArgs) query: PageArgs,
  ): Promise<SessionPage> {
    return listUserSessions(context, userId, query);
  }

  @Mutation(() => Boolean, { description: 'Ends one session of the caller; its tokens are refused at once.' })
  @Permission({ itsm: 'sessions:manage:own' })
  async endSession(@Ctx() context: RequestContext, @Arg('id', () => ID) id: string): Promise<boolean> {
    await endOwnSession(context, id);
    return true;
  }

  @Mutation(() => LogoutResult, { description: 'Ends every session of a user of the organization.' })
  @Permission({ itsm: 'sessions:manage:all' })
  revokeUserSessions(
    @Ctx() context: RequestContext,
    @Arg('userId', () => ID) userId: string,
  ): Promise<LogoutResult> {
    return revokeUserSessions(context, userId);
  }

  @Mutation(() => TokenRevocation, { description: 'Revokes one access token; its session lives on.' })
  @Permission({ itsm: 'sessions:manage:own' })
  async revokeToken(
    @Ctx() context: RequestContext,
    @Arg('input', () => RevokeTokenInput) { token }: RevokeTokenInput,
  ): Promise<TokenRevocation> {
    return { revoked: await revokeToken(context, token) };
  }

  @FieldResolver(() => Boolean, { description: 'Whether it is the one that asks.' })
  current(@Root() { id }: Session, @Ctx() { caller }: RequestContext): boolean {
    return caller.itsm?.sessionId === id;
  }
}
