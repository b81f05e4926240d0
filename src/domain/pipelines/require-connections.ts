import type { EntityManager } from '@mikro-orm/postgresql';
import { Connection } from '../../entities/connections/connection.js';
import { invalid } from '../../errors.js';

interface ConnectionFields {
  sourceConnectionId?: string | null | undefined;
  targetConnectionId?: string | null | undefined;
}

/** @throws VALIDATION_ERROR naming each field whose connection the workspace does not have. */
export async function requireConnections(em: EntityManager, fields: ConnectionFields): Promise<void> {
  const named = (['sourceConnectionId', 'targetConnectionId'] as const).filter((field) => fields[field]);
  if (named.length === 0) return;
  const ids = named.flatMap((field) => fields[field] ?? []);
  const found = new Set((await em.find(Connection, { id: { $in: ids } })).map((connection) => connection.id));
  const problems = named
    .filter((field) => !found.has(fields[field] ?? ''))
    .map((field) => ({
      field,
      constraint: 'exists',
      message: `${field} is no connection of this workspace`,
    }));
  if (problems.length > 0) throw invalid(problems);
}
