import { startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';

/** A process that tests kill: starts a server over the directory it is given, says where, and stays. */
const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new Error('Name a directory');
try {
  const server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  process.send?.({ url: server.url, pid: server.pid });
  process.once('SIGTERM', () => {
    server.close().finally(() => process.exit());
  });
  setInterval(() => {}, 60_000);
} catch (error) {
  process.send?.({ error: error instanceof Error ? error.message : String(error) });
  process.disconnect?.();
}
