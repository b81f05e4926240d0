import type { RequestContext } from '../../../context.js';
import { MfaChallenge } from '../../../entities/identity/mfa-challenge.js';
import type { User } from '../../../entities/identity/user.js';
import { recordAudit } from '../../audit/index.js';
import { CHALLENGE_SECONDS, mfaTokenHash, newMfaToken } from './challenge-token.js';
import type { MfaMethod } from './mfa-methods.js';
import { assertionOptions, credentialsOf } from './webauthn.js';

export interface MfaChallenged {
  mfaRequired: true;
  mfaToken: string;
  allowedMethods: MfaMethod[];
  /** Seconds. */
  expiresIn: number;
  /** For navigator.credentials.get; null for a user without an authenticator. */
  assertionOptions: object | null;
}

export type ChallengeContext = Pick<RequestContext, 'requestId'> & {
  client?: RequestContext['client'];
  services: Pick<RequestContext['services'], 'orm' | 'now' | 'config'>;
};

/** What whoever knows the password gets instead of tokens. */
export async function startChallenge(
  { services, client, requestId }: ChallengeContext,
  user: User,
  allowedMethods: MfaMethod[],
  deviceFingerprint?: string | null,
): Promise<MfaChallenged> {
  const { id: userId, organizationId } = user;
  const mfaToken = newMfaToken();
  const em = services.orm.em.fork();
  const options = allowedMethods.includes('webauthn')
    ? await assertionOptions(services.config, await credentialsOf(em, userId), CHALLENGE_SECONDS * 1_000)
    : null;
  await em.transactional(async (writer) => {
    await writer.insert(MfaChallenge, {
      tokenHash: mfaTokenHash(mfaToken),
      organizationId,
      userId,
      attempts: 0,
      assertionChallenge: options?.challenge ?? null,
      deviceFingerprint: deviceFingerprint ?? null,
      expiresAt: new Date(services.now().getTime() + CHALLENGE_SECONDS * 1_000),
    });
    await recordAudit(writer, {
      organizationId,
      actor: { type: 'user', id: userId },
      action: 'auth.mfa_challenged',
      resource: { type: 'user', id: userId },
      after: { allowedMethods },
      address: client?.address,
      requestId,
    });
  });
  return {
    mfaRequired: true,
    mfaToken,
    allowedMethods,
    expiresIn: CHALLENGE_SECONDS,
    assertionOptions: options,
  };
}
