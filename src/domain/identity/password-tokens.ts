import { createHash, randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type PasswordPurpose, PasswordToken } from '../../entities/identity/password-token.js';
import type { User } from '../../entities/identity/user.js';
import { tokenInvalid } from './token-error.js';

/** 256 bits: more than anybody guesses, so that a plain hash keeps them. */
const TOKEN_BYTES = 32;
/** Of 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;
/** Open links of one user: whoever presses the button again and again fills nobody's mailbox. */
const MAX_OPEN = 5;

const HOUR_MS = 3_600_000;

const passwordLinkLastsMs: Readonly<Record<PasswordPurpose, number>> = {
  invitation: 7 * 24 * HOUR_MS,
  reset: HOUR_MS,
};

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** The token, which only its link carries; undefined when the user has enough of them. */
export async function newPasswordToken(
  em: EntityManager,
  user: Pick<User, 'id' | 'organizationId'>,
  what: Pick<PasswordToken, 'purpose' | 'mailId'>,
  now: Date,
): Promise<string | undefined> {
  return em.transactional(async (writer) => {
    // Two mails that are written at once count each other.
    await writer.execute('select 1 from "user" where id = ? for no key update', [user.id]);
    await writer.nativeDelete(PasswordToken, { userId: user.id, mailId: what.mailId }, { filters: false });
    const open = { userId: user.id, purpose: what.purpose, expiresAt: { $gt: now } };
    if ((await writer.count(PasswordToken, open, { filters: false })) >= MAX_OPEN) return undefined;
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await writer.insert(PasswordToken, {
      ...what,
      hash: hashOf(token),
      organizationId: user.organizationId,
      userId: user.id,
      createdAt: now,
      expiresAt: new Date(now.getTime() + passwordLinkLastsMs[what.purpose]),
    });
    return token;
  });
}

/** @throws TOKEN_INVALID */
export async function findPasswordToken(em: EntityManager, token: string, now: Date): Promise<PasswordToken> {
  if (!TOKEN.test(token)) throw tokenInvalid();
  const found = await em.findOne(
    PasswordToken,
    { hash: hashOf(token), expiresAt: { $gt: now } },
    { filters: false },
  );
  if (!found) throw tokenInvalid();
  return found;
}

/** One of two that use it at once gets it. @throws TOKEN_INVALID for the other */
export async function usePasswordToken(em: EntityManager, { hash }: PasswordToken): Promise<void> {
  const used = await em.nativeDelete(PasswordToken, { hash }, { filters: false });
  if (used === 0) throw tokenInvalid();
}

/** No link that was sent before lets anybody set a password any more. */
export async function voidPasswordTokens(em: EntityManager, userId: string): Promise<void> {
  await em.nativeDelete(PasswordToken, { userId }, { filters: false });
}
