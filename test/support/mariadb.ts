import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import type { MysqlConnectionTarget } from '../../src/engines/engine.js';
import { eventually } from './eventually.js';

export interface MariaDbFixture {
  target: MysqlConnectionTarget;
  /** Of an administrator, in the database of `target`. */
  connection: Connection;
  rows(sql: string): Promise<Record<string, unknown>[]>;
  run(...statements: string[]): Promise<void>;
  close(): Promise<void>;
}

const SHARE = '/usr/share/mysql';
/** What mariadb-install-db would feed the server, which wants programs that the server's package has not. */
const SYSTEM_TABLES = ['system_tables', 'performance_tables', 'system_tables_data'];
const PASSWORD = 'p4ss#word';

/** Whether this machine has MariaDB (Debian: mariadb-server-core); what needs it is skipped otherwise, and says so. */
export function hasMariaDb(): boolean {
  if (find('mariadbd') !== undefined) return true;
  process.stderr.write('No mariadbd on this machine: what reads and writes MySQL is not tested here.\n');
  return false;
}

/** A real server in a directory of its own. */
export async function startMariaDb(): Promise<MariaDbFixture> {
  const server = find('mariadbd');
  if (server === undefined) throw new Error('mariadbd is not installed: see CONTRIBUTING.md.');
  const directory = await mkdtemp(join(tmpdir(), 'opsgraph-mariadb-'));
  const user = userInfo().username;
  await mkdir(join(directory, 'data'));
  const shared = [
    '--no-defaults',
    `--user=${user}`,
    `--datadir=${join(directory, 'data')}`,
    // A server that starts deletes the temporary tables it finds, another's too; so does its installation.
    `--tmpdir=${directory}`,
  ];
  await install(server, shared);
  const port = await freePort();
  const socketPath = join(directory, 'socket');
  const child = spawn(
    server,
    [
      ...shared,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${socketPath}`,
      `--pid-file=${join(directory, 'pid')}`,
      '--skip-name-resolve',
      '--character-set-server=utf8mb4',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-buffer-pool-size=32M',
    ],
    { stdio: 'ignore' },
  );
  let opened: Connection | undefined;
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`mariadbd ended with ${child.exitCode}`);
    opened = await connect(socketPath);
    return opened !== undefined;
  });
  const connection = opened as unknown as Connection;
  await connection.query(`CREATE DATABASE shop; CREATE USER opsgraph@'%' IDENTIFIED BY '${PASSWORD}';
    GRANT ALL ON *.* TO opsgraph@'%'; USE shop`);
  return {
    target: {
      type: 'mysql',
      host: '127.0.0.1',
      port,
      database: 'shop',
      user: 'opsgraph',
      password: PASSWORD,
    },
    connection,
    rows: async (sql) => (await connection.query<RowDataPacket[]>(sql))[0],
    run: async (...statements) => {
      for (const statement of statements) await connection.query(statement);
    },
    close: async () => {
      connection.destroy();
      await stop(child);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function install(server: string, options: readonly string[]): Promise<void> {
  const names = await readdir(SHARE);
  const scripts = await Promise.all(
    SYSTEM_TABLES.map((name) => {
      const file = names.find((each) => each === `mariadb_${name}.sql` || each === `mysql_${name}.sql`);
      if (file === undefined) throw new Error(`${SHARE} has no ${name}.sql.`);
      return readFile(join(SHARE, file), 'utf8');
    }),
  );
  const child = spawn(server, [...options, '--bootstrap', '--innodb-buffer-pool-size=32M'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  // The bootstrap reads one statement a line.
  child.stdin?.end(
    ['CREATE DATABASE mysql;', 'USE mysql;', 'SET @auth_root_socket = NULL;', ...scripts, ''].join('\n'),
  );
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`mariadbd --bootstrap ended with ${code}: ${output.slice(-1_000)}`);
}

async function connect(socketPath: string): Promise<Connection | undefined> {
  const options = { socketPath, user: 'root', multipleStatements: true, bigNumberStrings: true };
  return createConnection({ ...options, supportBigNumbers: true, dateStrings: true }).catch(() => undefined);
}

function find(name: string): string | undefined {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return places.map((place) => join(place, name)).find((path) => existsSync(path));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('No port was given.');
  return address.port;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
