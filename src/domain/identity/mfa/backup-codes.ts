import { createHmac, randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { SecretBox } from '../../../context.js';
import { BackupCode } from '../../../entities/identity/backup-code.js';
import type { User } from '../../../entities/identity/user.js';
import { holdLock } from '../advisory-lock.js';

/** ITSM document, MFA challenge: 10 codes of 8 characters. */
const CODES = 10;
const LENGTH = 8;
/** Crockford's: nothing in it looks like something else, and a byte's five low bits choose evenly. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Replaces the codes the user had. They are known only now. */
export async function renewBackupCodes(
  em: EntityManager,
  secrets: SecretBox,
  { id: userId, organizationId }: Pick<User, 'id' | 'organizationId'>,
): Promise<string[]> {
  // Of two renewals at once the later one's codes are good, not both.
  await holdLock(em, `backup codes of ${userId}`);
  const codes = new Set<string>();
  while (codes.size < CODES) codes.add(newCode());
  await em.nativeDelete(BackupCode, { userId }, { filters: false });
  const rows = [...codes].map((code) => ({
    userId,
    organizationId,
    hash: backupCodeHash(secrets, userId, code),
  }));
  await em.insertMany(BackupCode, rows);
  return [...codes];
}

/** False when the code is not one of the user's any more: of two uses at once, one deletes the row. */
export async function useBackupCode(em: EntityManager, userId: string, hash: string): Promise<boolean> {
  return (await em.nativeDelete(BackupCode, { userId, hash }, { filters: false })) === 1;
}

/**
 * 8 characters are 40 bits: a plain SHA-256 of them is tried out within minutes, and argon2 would have to be computed
 * for each of ten salts. An HMAC under a key that is not in the database gives nothing away without that key, and
 * whoever has it can open the TOTP secrets anyway. Spelling is forgiven as Crockford does.
 */
export function backupCodeHash(secrets: SecretBox, userId: string, code: string): string {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return createHmac('sha256', secrets.deriveKey('backup codes'))
    .update(`${userId} ${plain}`)
    .digest('base64url');
}

function newCode(): string {
  return Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte & 31]).join('');
}
