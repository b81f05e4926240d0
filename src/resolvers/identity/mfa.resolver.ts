import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import {
  confirmMfa,
  regenerateBackupCodes,
  removeMfa,
  setUpMfa,
  verifyMfa,
} from '../../domain/identity/index.js';
import { Permission } from '../permission.js';
import { TokenPair } from './auth-results.js';
import {
  BackupCodes,
  ConfirmMfaInput,
  MfaMethod,
  MfaOffer,
  SetUpMfaInput,
  VerifyMfaInput,
} from './mfa-types.js';

@Resolver()
export class MfaResolver {
  @Permission({ public: true })
  @Mutation(() => TokenPair, { description: 'Exchanges a challenge and one second factor for tokens.' })
  verifyMfa(
    @Arg('input', () => VerifyMfaInput) input: VerifyMfaInput,
    @Ctx() context: RequestContext,
  ): Promise<TokenPair> {
    return verifyMfa(context, input);
  }

  @Permission({ itsm: 'sessions:manage:own' })
  @Mutation(() => MfaOffer, { description: 'Begins to set up a second factor of the caller.' })
  setUpMfa(
    @Arg('input', () => SetUpMfaInput) input: SetUpMfaInput,
    @Ctx() context: RequestContext,
  ): Promise<MfaOffer> {
    return setUpMfa(context, input);
  }

  @Permission({ itsm: 'sessions:manage:own' })
  @Mutation(() => BackupCodes, { description: 'From now on logins of the caller ask for a second factor.' })
  confirmMfa(
    @Arg('input', () => ConfirmMfaInput) input: ConfirmMfaInput,
    @Ctx() context: RequestContext,
  ): Promise<BackupCodes> {
    return confirmMfa(context, input);
  }

  @Permission({ itsm: 'sessions:manage:own' })
  @Mutation(() => BackupCodes, { description: 'Ten new backup codes; the old ones are good no more.' })
  regenerateBackupCodes(@Ctx() context: RequestContext): Promise<BackupCodes> {
    return regenerateBackupCodes(context);
  }

  @Permission({ itsm: 'sessions:manage:own' })
  @Mutation(() => Boolean, {
    description: 'Of webauthn: every authenticator. Without a factor backup codes go too.',
  })
  async removeMfa(
    @Arg('method', () => MfaMethod) method: MfaMethod,
    @Ctx() context: RequestContext,
  ): Promise<boolean> {
    await removeMfa(context, method);
    return true;
  }
}
