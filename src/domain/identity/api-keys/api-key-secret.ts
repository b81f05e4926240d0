import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const PREFIX = 'tnt_';
/** Crockford base32 in lower case, like our ids: nothing in it is taken for something else. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 45 bits of milliseconds: until the year 3084. */
const TIMESTAMP_CHARACTERS = 9;
/** 160 bits. */
const RANDOM_CHARACTERS = 32;
/** 40 bits: one mistyped key in 10^12 costs a query. */
const CHECKSUM_CHARACTERS = 8;
const BODY_CHARACTERS = PREFIX.length + TIMESTAMP_CHARACTERS + RANDOM_CHARACTERS;
const FORM = new RegExp(
  `^${PREFIX}[${ALPHABET}]{${TIMESTAMP_CHARACTERS + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`,
);

/** tnt_<timestamp><random><hash>, the hash being a checksum over what comes before it. */
export function newApiKey(now: Date): string {
  const body = PREFIX + timestamp(now.getTime()) + characters(randomBytes(RANDOM_CHARACTERS));
  return body + checksum(body);
}

/** Whether a text could be a key at all: a mistyped one is refused without asking the database. */
export function isApiKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  const expected = Buffer.from(checksum(text.slice(0, BODY_CHARACTERS)));
  return timingSafeEqual(expected, Buffer.from(text.slice(BODY_CHARACTERS)));
}

export function apiKeyHash(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

function checksum(body: string): string {
  return characters(createHash('sha256').update(body).digest().subarray(0, CHECKSUM_CHARACTERS));
}

/** Five bits of each byte: 256 is a multiple of 32, so every character is as likely. */
function characters(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += ALPHABET[byte & 31];
  return text;
}

function timestamp(milliseconds: number): string {
  let text = '';
  let rest = milliseconds;
  for (let index = 0; index < TIMESTAMP_CHARACTERS; index += 1) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
