import type { Services } from '../../context.js';
import type { ConnectionTarget } from '../../engines/engine.js';
import { Connection } from '../../entities/connections/connection.js';
import { ORGANIZATION_FILTER, WORKSPACE_FILTER } from '../../entities/tenancy.js';
import { notFound } from '../../errors.js';
import { postgresConfig, postgresCredentials } from './connection-input.js';

/** What a run needs to reach the connection of its workspace by this name, credentials in clear. @throws NOT_FOUND */
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
  const { host, port, database, ssl } = postgresConfig.parse(connection.config);
  const sealed = connection.sealedCredentials;
  const { username, password } = postgresCredentials.parse(
    JSON.parse(sealed === null ? '{}' : services.secrets.open(sealed)),
  );
  const certificate = typeof ssl === 'object' ? definedOnly(ssl) : ssl;
  return {
    type: 'postgres',
    host,
    port,
    database,
    user: username,
    ...(password === undefined ? {} : { password }),
    ssl: certificate,
  };
}

function definedOnly<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
