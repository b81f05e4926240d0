import { Secret, TOTP } from 'otpauth';
import { SERVICE_NAME } from './relying-party.js';

const PERIOD_SECONDS = 30;
/** One step before and after: a clock that is 30 s off, or a code typed as it changes (RFC 6238 section 5.2). */
const WINDOW = 1;
/** 160 bits, as RFC 4226 section 4 recommends. */
const SECRET_BYTES = 20;

/** In base32, as authenticator apps take it. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** What the QR code says. SHA-1, 6 digits and 30 s are what every app understands. */
export function otpauthUri(secret: string, email: string): string {
  return totpOf(secret, email).toString();
}

/** The number of the 30 s the code belongs to; undefined for a wrong one. Compared in constant time. */
export function totpStep(secret: string, code: string, now: Date): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const timestamp = now.getTime();
  const delta = totpOf(secret).validate({ token, timestamp, window: WINDOW });
  return delta === null ? undefined : Math.floor(timestamp / 1_000 / PERIOD_SECONDS) + delta;
}

function totpOf(secret: string, label?: string): TOTP {
  return new TOTP({
    issuer: SERVICE_NAME,
    ...(label !== undefined && { label }),
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
  });
}
