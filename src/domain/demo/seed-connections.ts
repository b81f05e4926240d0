import type { Services } from '../../context.js';
import { ensureWarehouse } from '../../database/demo-warehouse.js';
import { Connection } from '../../entities/connections/connection.js';
import { newUuid } from '../../entities/ids.js';

/**
 * A connection `warehouse` in each demo workspace, to a database of the embedded server. Repeated at every start,
 * because that server may listen on another port than the last time.
 */
export async function seedConnections(
  services: Services,
  tenants: Readonly<Record<string, { organizationId: string; workspaceId: string }>>,
  embeddedUrl: string,
): Promise<void> {
  const now = services.now();
  for (const [slug, { organizationId, workspaceId }] of Object.entries(tenants)) {
    const password = Buffer.from(services.secrets.deriveKey(`demo warehouse ${slug}`)).toString('base64url');
    const warehouse = await ensureWarehouse(embeddedUrl, `warehouse_${slug}`, password);
    const { host, port, database, username } = warehouse;
    const em = services.orm.em.fork();
    await em.upsert(
      Connection,
      {
        id: newUuid(),
        organizationId,
        workspaceId,
        name: 'warehouse',
        type: 'postgres',
        config: { host, port, database, ssl: false },
        sealedCredentials: services.secrets.seal(JSON.stringify({ username, password })),
        createdAt: now,
        updatedAt: now,
        createdBy: 'demo',
      },
      {
        onConflictFields: ['workspaceId', 'name'],
        onConflictMergeFields: ['config', 'sealedCredentials', 'updatedAt'],
      },
    );
  }
}
