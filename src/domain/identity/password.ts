import { hash, verify } from '@node-rs/argon2';

/**
 * argon2id with OWASP's first choice for servers: 19 MiB, two passes, one lane (Password Storage Cheat Sheet, 2025).
 * The work runs on libuv's threads, four unless UV_THREADPOOL_SIZE says otherwise, so memory stays bounded.
 */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };

/** The PHC string, with a salt of its own. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

let nobody: Promise<string> | undefined;

/**
 * An unknown account, and one that has no password, costs as much as another one: the password is then verified against
 * a hash nobody knows.
 */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
): Promise<boolean> {
  nobody ??= hashPassword(crypto.randomUUID());
  const dummy = await nobody;
  const matches = await verify(passwordHash ?? dummy, password);
  return matches && passwordHash != null;
}
