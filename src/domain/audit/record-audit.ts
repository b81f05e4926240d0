import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestContext } from '../../context.js';
import { newId } from '../../entities/ids.js';
import { redactRecord } from '../../redact.js';
import { entryHash, GENESIS, type HashedEntry } from './entry-hash.js';

/** The chain of what belongs to no organization, such as a login with an address nobody has. */
export const INSTALLATION = 'installation';

export interface AuditActor {
  type: 'user' | 'api_key' | 'platform' | 'system' | 'anonymous';
  id: string | null;
}

export interface NewAuditEntry {
  /** Null for the installation's own chain. */
  organizationId: string | null;
  actor: AuditActor;
  /** `<area>.<what happened>`, for example auth.login_failed. */
  action: `${string}.${string}`;
  resource: { type: string; id: string | null };
  /** Values under a secret's name are hidden (src/redact.ts); leave them out all the same. */
  before?: object | null;
  after?: object | null;
  address?: string | null | undefined;
  requestId?: string | null | undefined;
}

/**
 * Appends to the organization's chain: in the transaction of `em` when there is one, so that the change and its entry
 * are committed together. Call it last there: the end of the chain is held until the commit, and whoever waits for it
 * while holding what you still need would be a deadlock (PostgreSQL ends one of the two, transactional() repeats it).
 */
export async function recordAudit(em: EntityManager, entry: NewAuditEntry): Promise<void> {
  if (em.isInTransaction()) return append(em, entry);
  await em.fork().transactional((writer) => append(writer, entry));
}

/** Who acts in a request, from where. An explicit actor is for what happens before anybody is known. */
export function auditSource({
  caller,
  client,
  requestId,
}: Pick<RequestContext, 'caller' | 'client' | 'requestId'>): Pick<
  NewAuditEntry,
  'organizationId' | 'actor' | 'address' | 'requestId'
> {
  const { itsm, platform } = caller;
  return {
    organizationId: itsm?.organizationId ?? platform?.organizationId ?? null,
    actor: actorOf({ itsm, platform }),
    address: client?.address,
    requestId,
  };
}

function actorOf({ itsm, platform }: RequestContext['caller']): AuditActor {
  if (itsm?.apiKey) return { type: 'api_key', id: itsm.apiKey.id };
  if (itsm) return { type: 'user', id: itsm.userId };
  if (platform) return { type: 'platform', id: platform.subject };
  return { type: 'anonymous', id: null };
}

interface End {
  length: number | string;
  head: string;
  at: number;
}

async function append(em: EntityManager, entry: NewAuditEntry): Promise<void> {
  const organizationId = entry.organizationId ?? INSTALLATION;
  // Makes the row or locks it: the update changes nothing, but answers with what the last holder committed.
  const [end] = await em.execute<End[]>(
    `insert into audit_chain (organization_id, length, head) values (?, 0, ?)
     on conflict (organization_id) do update set organization_id = excluded.organization_id
     returning length, head, floor(extract(epoch from clock_timestamp()) * 1000)::float8 as at`,
    [organizationId, GENESIS],
  );
  if (end === undefined) throw new Error('The audit chain did not answer');
  const hashed: HashedEntry = {
    id: newId('aud'),
    organizationId,
    position: Number(end.length) + 1,
    occurredAt: new Date(end.at),
    action: entry.action,
    actorType: entry.actor.type,
    actorId: storable(entry.actor.id),
    resourceType: entry.resource.type,
    resourceId: storable(entry.resource.id),
    before: state(entry.before),
    after: state(entry.after),
    address: storable(entry.address ?? null),
    requestId: storable(entry.requestId ?? null),
    previousHash: end.head,
  };
  await insert(em, hashed, entryHash(hashed));
}

async function insert(em: EntityManager, entry: HashedEntry, hash: string): Promise<void> {
  const json = (value: object | null) => (value === null ? null : JSON.stringify(value));
  await em.execute(
    `with entry as (
       insert into audit_entry (id, organization_id, position, occurred_at, action, actor_type, actor_id,
         resource_type, resource_id, before, after, address, request_id, previous_hash, hash)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?, ?, ?, ?)
     )
     update audit_chain set length = ?, head = ? where organization_id = ?`,
    [
      entry.id,
      entry.organizationId,
      entry.position,
      entry.occurredAt,
      entry.action,
      entry.actorType,
      entry.actorId,
      entry.resourceType,
      entry.resourceId,
      json(entry.before),
      json(entry.after),
      entry.address,
      entry.requestId,
      entry.previousHash,
      hash,
      entry.position,
      hash,
      entry.organizationId,
    ],
  );
}

/** What PostgreSQL's text and jsonb can't hold: U+0000 and halves of surrogate pairs. */
function storable<T extends string | null>(text: T): T {
  return (text?.replaceAll('\0', '').toWellFormed() ?? null) as T;
}

/** As it will be read back: dates are strings and what is undefined is absent. */
function state(value: object | null | undefined): Record<string, unknown> | null {
  if (value == null) return null;
  return JSON.parse(JSON.stringify(redactRecord(value)), (_key, inner: unknown) =>
    typeof inner === 'string' ? storable(inner) : inner,
  ) as Record<string, unknown>;
}
