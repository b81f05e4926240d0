import { LockMode } from '@mikro-orm/core';
import type { RequestContext } from '../../context.js';
import { Connection } from '../../entities/connections/connection.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { conflict } from '../../errors.js';
import { transactional } from '../../events/transaction.js';
import { findInWorkspace } from '../workspace-resource.js';
import { auditConnection, shown } from './audit-connection.js';

/** How many pipelines a refusal names. */
const MAX_NAMED = 20;

/** @throws NOT_FOUND, CONFLICT that names the pipelines which refer to it by id */
export async function deleteConnection(context: RequestContext, id: string): Promise<void> {
  await transactional(context, async ({ em }) => {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const connection = await findInWorkspace(context, Connection, id, { em, lockMode });
    const users = await em.find(
      Pipeline,
      { $or: [{ sourceConnectionId: id }, { targetConnectionId: id }] },
      { fields: ['id', 'name'], orderBy: { name: 'asc' }, limit: MAX_NAMED },
    );
    if (users.length > 0) {
      const pipelines = users.map((pipeline) => ({ id: pipeline.id, name: pipeline.name }));
      throw conflict('Pipelines refer to the connection', { id, pipelines });
    }
    await em.nativeDelete(Connection, { id });
    await auditConnection(context, em, 'deleted', id, { before: shown(connection) });
  });
}
