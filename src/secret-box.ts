import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from './config.js';
import type { SecretBox } from './context.js';

const VERSION = 'v1';
const KEY_BYTES = 32;
/** NIST SP 800-38D section 8.2.2: a random 96-bit nonce is good for 2^32 messages under one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM. Sealed text is `v1.<base64url of nonce, ciphertext and tag>`; the version is authenticated too, so
 * that a later format can't be passed off as this one. Every purpose gets its own key by HKDF-SHA-256 (RFC 5869).
 * @throws when OPSGRAPH_SECRET_KEY is not set and DATA_DIR/secret.key can neither be read nor made.
 */
export function createSecretBox(config: Pick<Config, 'secretKey' | 'dataDir'>): SecretBox {
  const root =
    config.secretKey === undefined ? keyFromFile(config.dataDir) : Buffer.from(config.secretKey, 'hex');
  const deriveKey = (purpose: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', root, '', `opsgraph ${purpose}`, KEY_BYTES));
  const key = deriveKey(`secret box ${VERSION}`);
  const associated = Buffer.from(`opsgraph ${VERSION}`);

  return {
    deriveKey,
    seal(plaintext) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated);
      const sealed = Buffer.concat([
        nonce,
        cipher.update(plaintext, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `${VERSION}.${sealed.toString('base64url')}`;
    },
    open(sealed) {
      const [version, body, ...rest] = sealed.split('.');
      if (version !== VERSION || body === undefined || rest.length > 0)
        throw new Error('A sealed secret has an unknown format');
      const bytes = Buffer.from(body, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('A sealed secret is cut short');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(associated)
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([
          decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)),
          decipher.final(),
        ]).toString();
      } catch (cause) {
        throw new Error(
          'A sealed secret was sealed with another key, or changed since: is OPSGRAPH_SECRET_KEY (or DATA_DIR/secret.key) the one it was made with?',
          { cause },
        );
      }
    },
  };
}

/** Two processes that start at once end with the same key: whoever links first has made it, the other reads it. */
function keyFromFile(dataDir: string): Buffer {
  const file = path.join(dataDir, 'secret.key');
  const existing = readKey(file);
  if (existing) return existing;

  mkdirSync(dataDir, { recursive: true });
  const fresh = `${file}.${randomUUID()}`;
  writeFileSync(fresh, `${randomBytes(KEY_BYTES).toString('hex')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  try {
    linkSync(fresh, file);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    unlinkSync(fresh);
  }
  const made = readKey(file);
  if (!made) throw new Error(`${file} vanished while it was being made`);
  return made;
}

function readKey(file: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new Error(`${file} does not hold 32 bytes in hexadecimal`);
  return Buffer.from(text, 'hex');
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
