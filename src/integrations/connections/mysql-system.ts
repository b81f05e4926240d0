import type { Connection, RowDataPacket } from 'mysql2';
import type { MysqlConnectionTarget } from '../../engines/engine.js';
import {
  type CatalogueRow,
  type DiscoveredSchema,
  gathered,
  MAX_COLUMNS,
  MAX_TABLES,
} from './discovered-schema.js';
import { vettedSocket } from './vetted-socket.js';

/** Tables and views of the connection's database. */
const CATALOGUE = `
  SELECT t.table_schema AS \`schema\`, t.table_name AS \`table\`, c.column_name AS \`column\`, c.column_type AS type,
    c.is_nullable = 'YES' AS nullable, c.column_key = 'PRI' AS primaryKey
  FROM (
    SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema = DATABASE()
    ORDER BY table_name LIMIT ${MAX_TABLES + 1}
  ) t
  LEFT JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
  ORDER BY t.table_name, c.ordinal_position LIMIT ${MAX_COLUMNS + 1}`;

export async function probeMysql(target: MysqlConnectionTarget, signal: AbortSignal): Promise<string> {
  const [row] = await query<{ version: string }>(target, signal, 'SELECT VERSION() AS version');
  return `MySQL ${row?.version ?? ''} answers.`;
}

export async function discoverMysql(
  target: MysqlConnectionTarget,
  signal: AbortSignal,
): Promise<DiscoveredSchema> {
  return gathered(await query<CatalogueRow>(target, signal, CATALOGUE));
}

/** The socket is cut when the signal says so, whatever the client is waiting for. */
async function query<Row>(target: MysqlConnectionTarget, signal: AbortSignal, sql: string): Promise<Row[]> {
  const { createConnection } = await import('mysql2');
  const { host, port, database, user, password = '', ssl } = target;
  const secured = ssl === true ? {} : ssl;
  const verified = secured && (secured.rejectUnauthorized ?? true);
  const connection = createConnection({
    host,
    port,
    database,
    user,
    password,
    ...(secured && { ssl: { ...secured, rejectUnauthorized: verified, verifyIdentity: verified } }),
    charset: 'utf8mb4',
    // How long to wait is the signal's to say, and the driver would give up after 10 s.
    connectTimeout: 0,
    // The server could otherwise ask for files of this machine.
    flags: ['-LOCAL_FILES'],
    stream: () => vettedSocket().connect(port, host),
  });
  // A lost connection rejects the running query; the event itself would end the process.
  connection.on('error', () => undefined);
  const cut = () => connection.destroy();
  try {
    return await Promise.race([rowsOf<Row>(connection, sql), aborted(signal, cut)]);
  } finally {
    cut();
  }
}

function rowsOf<Row>(connection: Connection, sql: string): Promise<Row[]> {
  return new Promise((resolve, reject) =>
    connection.query<RowDataPacket[]>(sql, (error, rows) => (error ? reject(error) : resolve(rows as Row[]))),
  );
}

/** mysql2 answers nobody once it was destroyed. */
function aborted(signal: AbortSignal, cut: () => void): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = () => {
      cut();
      reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
