import type { Services } from '../../context.js';
import type { ConnectionTarget } from '../../engines/engine.js';
import { Connection } from '../../entities/connections/connection.js';
import { ORGANIZATION_FILTER, WORKSPACE_FILTER } from '../../entities/tenancy.js';
import { conflict, notFound } from '../../errors.js';
import { openDefinition } from './open-definition.js';
import { requestedTarget } from './requested-target.js';

/**
 * What a run needs to reach the connection of its workspace by this name, credentials in clear.
 * @throws NOT_FOUND; VALIDATION_ERROR when the installation's rules refuse it; CONFLICT for a type no engine reads
 */
export async function connectionTarget(
  services: Services,
  owner: { organizationId: string; workspaceId: string },
  name: string,
): Promise<ConnectionTarget> {
  const em = services.orm.em.fork();
  em.setFilterParams(ORGANIZATION_FILTER, { organizationId: owner.organizationId });
  em.setFilterParams(WORKSPACE_FILTER, { workspaceId: owner.workspaceId });
  const connection = await em.findOne(Connection, { name });
  if (!connection) throw notFound('connection', name);
  const target = await requestedTarget(openDefinition(services, connection), services.config);
  if (!target)
    throw conflict(`A ${connection.type} connection cannot be read or written yet`, {
      type: connection.type,
    });
  return target;
}
