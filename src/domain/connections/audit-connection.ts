import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestContext } from '../../context.js';
import type { Connection } from '../../entities/connections/connection.js';
import { auditSource, recordAudit } from '../audit/index.js';

/** What an auditor sees of it: never the credentials, sealed or not. */
export function shown({ name, type, config }: Connection): object {
  return { name, type, config };
}

export function auditConnection(
  context: RequestContext,
  em: EntityManager,
  what: 'created' | 'updated' | 'deleted',
  id: string,
  states: { before?: object; after?: object },
): Promise<void> {
  const resource = { type: 'connection', id };
  return recordAudit(em, { ...auditSource(context), action: `connections.${what}`, resource, ...states });
}
