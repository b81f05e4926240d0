import type { EntityManager } from '@mikro-orm/postgresql';
import { z } from 'zod';
import type { RequestContext } from '../../../context.js';
import { MfaChallenge } from '../../../entities/identity/mfa-challenge.js';
import { User } from '../../../entities/identity/user.js';
import { AppError } from '../../../errors.js';
import { validate } from '../../validate.js';
import type { TokenAnswer } from '../issue-tokens.js';
import { guarded } from '../login-guard.js';
import { openSession } from '../open-session.js';
import { tokenInvalid } from '../token-error.js';
import { loginAudit, refusal, type SignInContext } from '../verify-credentials.js';
import { answerFields, assertionShape } from './answer-shape.js';
import { mfaTokenHash } from './challenge-token.js';
import { type Answer, checkFactor } from './check-factor.js';
import { mfaMethods } from './mfa-methods.js';

/** ITSM completion, Identity: over all factors. */
const MAX_ATTEMPTS = 5;

const input = z.object({
  mfaToken: z.string().min(1).max(200),
  method: z.enum(mfaMethods),
  code: answerFields.code.nullish(),
  assertion: assertionShape.nullish(),
});

export type MfaAnswer = { mfaToken: string; method: string; code?: string | null; assertion?: unknown };

/** Thrown to undo what a used code was about to open. */
class AlreadyUsed extends Error {}

type MfaContext = SignInContext & { services: Pick<RequestContext['services'], 'config'> };

/** Opens what the login was for, in one transaction with `together`. */
type Open<T> = (
  user: User,
  how: {
    method: string;
    deviceFingerprint: string | null;
    together: (em: EntityManager) => Promise<void>;
  },
) => Promise<T>;

/**
 * Tokens for whoever meets the challenge of a login.
 * @throws VALIDATION_ERROR, TOKEN_INVALID when the challenge is over, AUTHENTICATION_ERROR for a wrong answer,
 *   ACCOUNT_LOCKED
 */
export function verifyMfa(context: RequestContext, answer: MfaAnswer): Promise<TokenAnswer> {
  return meetChallenge(context, answer, (user, how) => openSession(context, user, how));
}

/**
 * A challenge is met once and takes five attempts; a wrong answer also counts as a failed login, since a new challenge
 * costs no more than the password.
 */
export async function meetChallenge<T extends object>(
  context: MfaContext,
  given: MfaAnswer,
  open: Open<T>,
): Promise<T> {
  const { mfaToken, method, code, assertion } = validate(input, given);
  const answer = { method, code: code ?? '', assertion: assertion ?? undefined };
  const { challenge, user } = await spendAttempt(context, mfaToken);
  const audit = loginAudit(context, user.email, user);
  const check = async () => {
    const opened = await openWith(context, challenge, answer, (how) => open(user, how));
    return { outcome: opened ? 'passed' : 'failed', value: opened } as const;
  };
  const { value, locked } = await guarded(context.services, user.email, check).catch(refusal(audit));
  if (value) return value;
  await audit('auth.mfa_failed', { method });
  if (locked) await audit('auth.account_locked');
  throw new AppError('AUTHENTICATION_ERROR', 'The second factor was not right');
}

/** @throws TOKEN_INVALID when the challenge is over, RATE_LIMIT_EXCEEDED */
async function spendAttempt(
  { services, client }: MfaContext,
  mfaToken: string,
): Promise<{ challenge: MfaChallenge; user: User }> {
  const em = services.orm.em.fork();
  const tokenHash = mfaTokenHash(mfaToken);
  const challenge = await em.findOne(MfaChallenge, { tokenHash }, { filters: false });
  if (!challenge) throw tokenInvalid();
  const user = await em.findOne(User, { id: challenge.userId }, { filters: false });
  if (!user) throw tokenInvalid();
  await client?.countAttempt('mfa', user.email);
  // Taken before the answer is looked at: of any number at once, five get through.
  const spent = await em.execute(
    `update mfa_challenge set attempts = attempts + 1
     where token_hash = ? and expires_at > ? and attempts < ? returning user_id`,
    [tokenHash, services.now(), MAX_ATTEMPTS],
  );
  if (spent.length === 0) throw tokenInvalid();
  return { challenge, user };
}

/** Undefined for a wrong answer or one that was used. */
async function openWith<T>(
  { services }: MfaContext,
  challenge: MfaChallenge,
  answer: Answer,
  open: (how: Parameters<Open<T>>[1]) => Promise<T>,
): Promise<T | undefined> {
  const use = await checkFactor[answer.method](services, challenge, answer);
  if (use === undefined) return undefined;
  const { tokenHash, deviceFingerprint } = challenge;
  const together = async (em: EntityManager) => {
    const met = await em.nativeDelete(MfaChallenge, { tokenHash }, { filters: false });
    // Somebody else met it first.
    if (met === 0) throw tokenInvalid();
    if (!(await use(em))) throw new AlreadyUsed();
  };
  try {
    return await open({ method: answer.method, deviceFingerprint, together });
  } catch (error) {
    if (error instanceof AlreadyUsed) return undefined;
    throw error;
  }
}
