import { platformCaller, type RequestContext } from '../../context.js';
import type { ConnectionTarget } from '../../engines/engine.js';
import { AppError, conflict } from '../../errors.js';
import type { DiscoveredSchema } from '../../integrations/connections/discovered-schema.js';
import { findLocal } from '../../integrations/connections/file-system.js';
import { discoverMysql } from '../../integrations/connections/mysql-system.js';
import { discoverPostgres } from '../../integrations/connections/postgres-system.js';
import { findS3 } from '../../integrations/connections/s3-system.js';
import { describeFiles } from './describe-files.js';
import { explained } from './explained.js';
import { fileOwners } from './file-owners.js';
import { getSealedConnection } from './get-connection.js';
import { openDefinition } from './open-definition.js';
import { requestedTarget } from './requested-target.js';

const TIMEOUT_MS = 20_000;

/**
 * Tables and columns of a system, as its account sees them.
 * @throws CONFLICT for a type that has no tables, BAD_GATEWAY when the system cannot be read, GATEWAY_TIMEOUT after 20 s
 */
export async function connectionSchema(context: RequestContext, id: string): Promise<DiscoveredSchema> {
  const definition = openDefinition(context.services, await getSealedConnection(context, id));
  const target = await requestedTarget(definition, context.services.config);
  if (!target || target.type === 'http')
    throw conflict(`A ${definition.type} connection has no tables to discover`, {
      id,
      type: definition.type,
    });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await discover(context, target, signal);
  } catch (error) {
    const code = signal.aborted ? 'GATEWAY_TIMEOUT' : 'BAD_GATEWAY';
    const message = explained(signal.aborted ? signal.reason : error, definition);
    throw new AppError(code, `The system cannot be read: ${message}`, { details: { id } });
  }
}

async function discover(
  context: RequestContext,
  target: Exclude<ConnectionTarget, { type: 'http' }>,
  signal: AbortSignal,
): Promise<DiscoveredSchema> {
  switch (target.type) {
    case 'postgres':
      return discoverPostgres(target, signal);
    case 'mysql':
      return discoverMysql(target, signal);
    case 'file': {
      const owners = fileOwners(context.services.config, platformCaller(context).workspaceId);
      const found = await (target.storage === 's3'
        ? findS3(target, signal)
        : findLocal(target, owners, signal));
      return describeFiles(context.services, target, owners, found, signal);
    }
  }
}
