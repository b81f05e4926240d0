import { stdSerializers } from 'pino';

export const REDACTED = '[redacted]';

/** Compared without case, hyphens and underscores, so that client_secret, clientSecret and X-Client-Secret are one. */
const SECRET_NAMES = new Set([
  'accesstoken',
  'apikey',
  'assertion',
  'authorization',
  'backupcodes',
  'bearertoken',
  'clientassertion',
  'clientsecret',
  'codeverifier',
  'connectionstring',
  'cookie',
  'credential',
  'credentials',
  'databaseurl',
  'hmacsecret',
  'idtoken',
  'jwt',
  'linkedauthorization',
  'mfatoken',
  'mongodburl',
  'opsgraphsecretkey',
  'passphrase',
  'passwd',
  'password',
  'passwordhash',
  'platformtoken',
  'privatejwk',
  'privatekey',
  'proxyauthorization',
  'redisurl',
  'refreshtoken',
  'routingkey',
  'sealed',
  'secret',
  'secretkey',
  'setcookie',
  'token',
  'xapikey',
  'xlinkedauthorization',
]);

const secretNames = new Map<string, boolean>();
/** Log keys are written in code, so few; the bound only keeps a map with foreign keys from growing without end. */
const REMEMBERED_NAMES = 2_000;

function isSecretName(name: string): boolean {
  const known = secretNames.get(name);
  if (known !== undefined) return known;
  const secret = SECRET_NAMES.has(name.replace(/[-_]/g, '').toLowerCase());
  if (secretNames.size < REMEMBERED_NAMES) secretNames.set(name, secret);
  return secret;
}

/** Secrets inside free text: JWTs, Authorization values, passwords of connection URLs. */
const SECRET_TEXTS: readonly [RegExp, string][] = [
  [/eyJ[\w-]{8,}\.[\w-]+(\.[\w-]*)?/g, REDACTED],
  [/\b(Bearer|Basic)\s+[\w\-.~+/]{8,}=*/gi, `$1 ${REDACTED}`],
  [/(\/\/[^\s/:@]*):[^\s/@]+@/g, `$1:${REDACTED}@`],
  [/\b(tnt|whsec|mfa)_[\w+/=-]{8,}/g, `$1_${REDACTED}`],
];

export function redactText(text: string): string {
  // One test instead of four replacements for the usual line, which holds none of them.
  if (!/eyJ|bearer|basic|\/\/|tnt_|whsec_|mfa_/i.test(text)) return text;
  return SECRET_TEXTS.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}

/** Shorter secrets would blot out ordinary words, and are guessed sooner than read. */
const MIN_CHARACTERS = 4;

/** Free text without these secrets, be they written as in a URL, and without what is a secret by its looks. */
export function redactSecrets(text: string, secrets: Iterable<string>): string {
  const forms = [...secrets]
    .filter(({ length }) => length >= MIN_CHARACTERS)
    .flatMap((secret) => [secret, encodeURIComponent(secret)]);
  // The longest first: one may be part of another.
  forms.sort((one, other) => other.length - one.length);
  return redactText(forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text));
}

/** pino writes no deeper than five levels (depthLimit), so nothing below six can reach a line. */
const MAX_DEPTH = 6;

/** A copy in which every value under a secret's name is hidden, at any depth that is written. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '[deep]';
  if (value instanceof Error) return redact(stdSerializers.errWithCause(value), depth + 1);
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  if (value instanceof Date || value instanceof URL) return redactText(value.toJSON() ?? '');
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  return redactRecord(value, depth);
}

export function redactRecord(record: object, depth = 0): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(record)) {
    copy[name] =
      isSecretName(name) && value !== undefined && value !== null ? REDACTED : redact(value, depth + 1);
  }
  return copy;
}
