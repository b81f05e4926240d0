import { Client } from 'pg';
import type { MysqlConnectionTarget, PostgresConnectionTarget } from '../../src/engines/engine.js';
import { type ServerProcess, startServerProcess } from '../process/server-process.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/app.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Call, caller } from '../support/rest.js';
import { type Watched, watch } from './watched-run.js';

type Database = PostgresConnectionTarget | MysqlConnectionTarget;

export interface RunHouse {
  app: TestApp;
  engineer: Call;
  /** A PostgreSQL database that the workspace's connection `warehouse` leads to. */
  warehouse: Client;
  /** Of the same database. */
  databaseUrl: string;
  /** Makes another connection, to the same database or to `to`. */
  connect(name: string, to?: Database): Promise<void>;
  /** A worker in a process of its own, for an app that has none. */
  startWorker(env?: Record<string, string>): Promise<ServerProcess>;
  createPipeline(yamlDefinition: string, more?: object): Promise<string>;
  /** Starts a run and gives its id. */
  start(pipelineId: string, body?: object): Promise<string>;
  watch(runId: string, options?: { after?: number; credential?: Record<string, string> }): Watched;
  close(): Promise<void>;
}

export async function openRunHouse(
  env: Record<string, string> = {},
  options: TestAppOptions = {},
): Promise<RunHouse> {
  const app = await startTestApp(env, options);
  const database: TestDatabase = await createTestDatabase();
  const credential = await app.platform('demo-engineer');
  const engineer = caller(app.url, credential);
  const { hostname, port, pathname, username, password } = new URL(database.url);
  const own: Database = {
    type: 'postgres',
    host: hostname,
    port: Number(port),
    database: pathname.slice(1),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  };
  const connect = async (name: string, to = own) => {
    const { status } = await engineer('POST', '/api/v1/connections', {
      name,
      type: to.type,
      config: { host: to.host, port: to.port, database: to.database },
      credentials: { username: to.user, password: to.password },
    });
    if (status !== 201) throw new Error(`connection not created: ${status}`);
  };
  await connect('warehouse');
  const warehouse = new Client({ connectionString: database.url });
  await warehouse.connect();
  return {
    app,
    engineer,
    warehouse,
    databaseUrl: database.url,
    connect,
    startWorker: (more = {}) =>
      startServerProcess({
        ROLE: 'worker',
        DATABASE_URL: app.database.url,
        DATA_DIR: app.dataDir,
        LOG_LEVEL: 'info',
        ...more,
      }),
    async createPipeline(yamlDefinition, more = {}) {
      const { body } = await engineer('POST', '/api/v1/pipelines', { name: 'p', yamlDefinition, ...more });
      return body.id;
    },
    async start(pipelineId, body) {
      const answer = await engineer('POST', `/api/v1/pipelines/${pipelineId}/run`, body);
      if (answer.status !== 202) throw new Error(`not started: ${JSON.stringify(answer.body)}`);
      return answer.body.runId;
    },
    watch: (runId, options = {}) => watch(app.url, runId, { credential, ...options }),
    async close() {
      await warehouse.end();
      await app.close();
      await database.close();
    },
  };
}
