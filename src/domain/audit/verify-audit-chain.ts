import { type EntityManager, IsolationLevel } from '@mikro-orm/postgresql';
import { AuditChain } from '../../entities/audit/audit-chain.js';
import { AuditEntry } from '../../entities/audit/audit-entry.js';
import { entryHash, GENESIS } from './entry-hash.js';
import { INSTALLATION } from './record-audit.js';

export type ChainVerdict =
  | { intact: true; length: number; head: string }
  /** The first position at which the chain is not what was written. */
  | { intact: false; position: number; reason: 'missing' | 'changed' | 'unlinked' | 'not the end' };

/** Entries held in memory at a time. */
const BATCH = 1_000;

/**
 * Computes every hash again, in one snapshot, so that what is written meanwhile does not confuse it. Whoever can write
 * past the triggers and computes all later hashes anew stays unseen: against that, keep the head elsewhere now and then.
 */
export function verifyAuditChain(em: EntityManager, organizationId: string | null): Promise<ChainVerdict> {
  const owner = { organizationId: organizationId ?? INSTALLATION };
  return em.fork().transactional((reader) => verify(reader, owner), {
    isolationLevel: IsolationLevel.REPEATABLE_READ,
  });
}

async function verify(em: EntityManager, owner: { organizationId: string }): Promise<ChainVerdict> {
  let position = 0;
  let head = GENESIS;
  let found = BATCH;
  while (found === BATCH) {
    const entries = await em.find(
      AuditEntry,
      { ...owner, position: { $gt: position } },
      { filters: false, orderBy: { position: 'asc' }, limit: BATCH, disableIdentityMap: true },
    );
    for (const entry of entries) {
      const reason = problemOf(entry, position + 1, head);
      if (reason) return { intact: false, position: position + 1, reason };
      position += 1;
      head = entry.hash;
    }
    found = entries.length;
  }
  const chain = await em.findOne(AuditChain, owner, { filters: false });
  const length = chain?.length ?? 0;
  if (position < length) return { intact: false, position: position + 1, reason: 'missing' };
  if (position > length || head !== (chain?.head ?? GENESIS))
    return { intact: false, position, reason: 'not the end' };
  return { intact: true, length, head };
}

function problemOf(entry: AuditEntry, position: number, head: string) {
  if (entry.position !== position) return 'missing';
  if (entry.previousHash !== head) return 'unlinked';
  const { hash, ...hashed } = entry;
  return entryHash(hashed) === hash ? undefined : 'changed';
}
