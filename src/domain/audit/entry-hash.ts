import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AuditEntry } from '../../entities/audit/audit-entry.js';

/** What the first entry of a chain follows. */
export const GENESIS = '0'.repeat(64);

/** What an auditor needs to compute the hash again: every column but the hash itself. */
export type HashedEntry = Omit<AuditEntry, 'hash'>;

/** SHA-256, in hexadecimal, of the previous hash followed by the entry as RFC 8785 writes it. */
export function entryHash({ previousHash, ...entry }: HashedEntry): string {
  const text = canonicalize({ ...entry, occurredAt: entry.occurredAt.toISOString() });
  if (text === undefined) throw new TypeError('An audit entry must be JSON');
  return createHash('sha256').update(previousHash).update(text).digest('hex');
}
