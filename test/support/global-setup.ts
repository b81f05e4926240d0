import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { importSource } from '../../scripts/import-source.ts';

/** One server for the whole run, with a migrated database that every test file clones. */
export default async function globalSetup(): Promise<void> {
  const { startEmbeddedPostgres } = await importSource<
    typeof import('../../src/database/embedded-postgres.js')
  >('src/database/embedded-postgres.ts');
  const { createOrm } = await importSource<typeof import('../../src/database/orm.js')>('src/database/orm.ts');
  const { migrate } =
    await importSource<typeof import('../../src/database/migrate.js')>('src/database/migrate.ts');
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-test-'));
  const server = await startEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  });
  const stop = async () => {
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const orm = await createOrm({ databaseUrl: server.url, poolSize: 2 });
    await migrate(orm);
    await orm.close(true);
  } catch (error) {
    await stop();
    throw error;
  }
  process.env['TEST_DATABASE_TEMPLATE_URL'] = server.url;
  process.env['TEST_LOG_DIR'] = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-test-logs-'));
  Object.assign(globalThis, { stopTestServer: stop });
}
