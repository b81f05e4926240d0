import { parse, v7 } from 'uuid';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
/** 26 characters carry 130 bits: the first holds only the three highest. */
const ID_BODY = new RegExp(`^[0-7][${CROCKFORD}]{25}$`);

/** Prefixes of the ITSM document's identifiers and of its completion. */
export type IdPrefix = 'usr' | 'org' | 'tkt' | 'evt' | 'ses' | 'team' | 'req' | 'job';

/**
 * `tkt_` + 26 characters of lower-case Crockford base32 of a UUIDv7: 128 bits, big end first, so that ids of one
 * resource sort by the millisecond they were made in.
 */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${base32(parse(v7()))}`;
}

/** Whether a text has the form of such an id; whether the thing exists is the database's to say. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_BODY.test(text.slice(prefix.length + 1));
}

export function newUuid(): string {
  return v7();
}

function base32(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += CROCKFORD[Number((value >> shift) & 31n)];
  return text;
}
