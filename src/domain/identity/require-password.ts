import type { Config } from '../../config.js';
import { invalidField } from '../../errors.js';
import { isBreached } from './breached-passwords.js';

/** In characters as people count them, not in UTF-16 units. */
const MIN_LENGTH = 12;
/** NIST SP 800-63B asks for at least 64; argon2 takes any, the bound keeps a request from hashing a megabyte. */
const MAX_LENGTH = 128;

/**
 * The rules for a password that is to be set, after NIST SP 800-63B section 3.1.1.2: length, no composition rules, not
 * the account's own name, not known from a breach (BREACHED_PASSWORDS_FILE).
 * @param field what the caller named it, for the error
 * @throws VALIDATION_ERROR
 */
export async function requirePassword(
  config: Pick<Config, 'breachedPasswordsFile'>,
  password: string,
  user: { email: string },
  field = 'password',
): Promise<void> {
  const length = [...password].length;
  if (length < MIN_LENGTH)
    throw invalidField(field, 'minLength', `${field} must have at least ${MIN_LENGTH} characters`);
  if (length > MAX_LENGTH)
    throw invalidField(field, 'maxLength', `${field} must have at most ${MAX_LENGTH} characters`);
  if (password.toLowerCase().includes(user.email.toLowerCase()))
    throw invalidField(field, 'isNotEmail', `${field} must not contain the e-mail address`);
  const { breachedPasswordsFile } = config;
  if (breachedPasswordsFile !== undefined && (await isBreached(breachedPasswordsFile, password)))
    throw invalidField(field, 'isNotBreached', `${field} is known from a breach of another service`);
}
