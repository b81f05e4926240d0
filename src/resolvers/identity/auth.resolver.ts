import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { login, logout, refresh } from '../../domain/identity/index.js';
import { Permission } from '../permission.js';
import { LoginInput, RefreshInput } from './auth-inputs.js';
import { JsonWebKeySet, LoginResult, LogoutResult, TokenPair } from './auth-results.js';
import { LoginOutcome, MfaChallenge } from './mfa-types.js';

@Resolver()
export class AuthResolver {
  @Permission({ public: true })
  @Mutation(() => LoginOutcome, { description: 'Exchanges an e-mail address and a password for tokens.' })
  async login(
    @Arg('input', () => LoginInput) input: LoginInput,
    @Ctx() context: RequestContext,
  ): Promise<LoginResult | MfaChallenge> {
    const outcome = await login(context, input);
    // The union is told apart by class.
    return 'mfaToken' in outcome
      ? Object.assign(new MfaChallenge(), outcome)
      : Object.assign(new LoginResult(), outcome);
  }

  @Permission({ public: true })
  @Mutation(() => TokenPair, { description: 'Exchanges a refresh token, once, for a new pair of tokens.' })
  refreshTokens(
    @Arg('input', () => RefreshInput) { refreshToken, deviceFingerprint }: RefreshInput,
    @Ctx() context: RequestContext,
  ): Promise<TokenPair> {
    return refresh(context, refreshToken, deviceFingerprint);
  }

  @Permission({ itsm: 'sessions:manage:own' })
  @Mutation(() => LogoutResult, { description: 'Revokes every active session of the caller.' })
  logout(@Ctx() context: RequestContext): Promise<LogoutResult> {
    return logout(context);
  }

  @Permission({ public: true })
  @Query(() => JsonWebKeySet, { description: 'The keys that verify access tokens of /v1.' })
  async jsonWebKeySet(@Ctx() context: RequestContext): Promise<JsonWebKeySet> {
    return { keys: await context.services.itsmTokens.publicJwks() };
  }
}
