import { createHash, randomBytes } from 'node:crypto';

/** ITSM document, Limits. */
export const CHALLENGE_SECONDS = 300;

/** 256 random bits, so that a plain hash of it gives nothing away. */
export function newMfaToken(): string {
  return `mfa_${randomBytes(32).toString('base64url')}`;
}

export function mfaTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
