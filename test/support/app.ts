import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Logger } from 'pino';
import { type App, startApp } from '../../src/app.js';
import { parseConfig } from '../../src/config.js';
import { clientCredential, userCredential } from './credentials.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { runLog } from './run-log.js';

export interface TestApp extends App {
  readonly database: TestDatabase;
  /** DATA_DIR of this app. */
  readonly dataDir: string;
  /** The Authorization header of a demo user of /v1, for example `agent@acme.test`. */
  itsm(email: string): Promise<Record<string, string>>;
  /** The Authorization header of a demo client of /api/v1, for example `demo-engineer`. */
  platform(clientId: string): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** For tests that read the log or hold the clock. */
export interface TestAppOptions {
  log?: Logger;
  now?: () => Date;
}

/** The whole server on a free port, over a database of its own with the demo data; limited only with RATE_LIMIT_DISABLED=false. */
export async function startTestApp(
  env: Record<string, string> = {},
  { log = runLog(), now }: TestAppOptions = {},
): Promise<TestApp> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph-test-'));
  const config = parseConfig(
    {
      PORT: '0',
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      SEED: 'demo',
      DATABASE_POOL_SIZE: '8',
      RATE_LIMIT_DISABLED: 'true',
      ...env,
    },
    dataDir,
  );
  const app = await startApp({ config, log, ...(now && { now }) });
  return {
    ...app,
    database,
    dataDir,
    itsm: (email) => userCredential(app.url, email),
    platform: (clientId) => clientCredential(app.url, clientId),
    async close() {
      await app.shutdown.drain('test over');
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
