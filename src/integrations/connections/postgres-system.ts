import { Client } from 'pg';
import type { PostgresConnectionTarget } from '../../engines/engine.js';
import {
  type CatalogueRow,
  type DiscoveredSchema,
  gathered,
  MAX_COLUMNS,
  MAX_TABLES,
} from './discovered-schema.js';
import { vettedSocket } from './vetted-socket.js';

/** Tables, views and foreign tables of the database that the account may see. */
const CATALOGUE = `
  SELECT t.schema, t."table", a.attname AS "column", format_type(a.atttypid, a.atttypmod) AS type,
    NOT a.attnotnull AS nullable, coalesce(a.attnum = ANY (i.indkey::int2[]), false) AS "primaryKey"
  FROM (
    SELECT c.oid, n.nspname AS schema, c.relname AS "table"
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND n.nspname NOT LIKE 'pg\\_%' AND has_schema_privilege(n.oid, 'USAGE')
      AND has_any_column_privilege(c.oid, 'SELECT')
    ORDER BY n.nspname, c.relname LIMIT ${MAX_TABLES + 1}
  ) t
  LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary
  ORDER BY t.schema, t."table", a.attnum LIMIT ${MAX_COLUMNS + 1}`;

export function probePostgres(target: PostgresConnectionTarget, signal: AbortSignal): Promise<string> {
  return withClient(target, signal, async (client) => {
    const { rows } = await client.query<{ version: string }>(`SHOW server_version`);
    const [version] = rows.map((row) => Object.values(row)[0]);
    return `PostgreSQL ${version} answers.`;
  });
}

export function discoverPostgres(
  target: PostgresConnectionTarget,
  signal: AbortSignal,
): Promise<DiscoveredSchema> {
  return withClient(target, signal, async (client) =>
    gathered((await client.query<CatalogueRow>(CATALOGUE)).rows),
  );
}

/** The socket is cut when the signal says so, whatever the client is waiting for. */
async function withClient<T>(
  target: PostgresConnectionTarget,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { host, port, database, user, password = '', ssl } = target;
  const socket = vettedSocket();
  const cut = () => socket.destroy(new Error('cut'));
  const client = new Client({
    host,
    port,
    database,
    user,
    password,
    ssl: ssl === true ? { rejectUnauthorized: true } : ssl,
    application_name: 'opsgraph',
    stream: () => socket,
  });
  // A lost connection rejects the running query; the event itself would end the process.
  client.on('error', () => undefined);
  signal.addEventListener('abort', cut, { once: true });
  try {
    await client.connect();
    await client.query('SET default_transaction_read_only = on');
    return await work(client);
  } finally {
    signal.removeEventListener('abort', cut);
    socket.destroy();
  }
}
