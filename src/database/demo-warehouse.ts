import { Client, escapeIdentifier, escapeLiteral } from 'pg';

const CONNECT_TIMEOUT_MS = 5_000;

export interface Warehouse {
  host: string;
  port: number;
  database: string;
  username: string;
  password: string;
}

/**
 * A database of its own, on the embedded server, for a demo organization's pipelines to write to: its role owns it and
 * may enter no other. Present ones stay as they are, but for their password.
 */
export async function ensureWarehouse(adminUrl: string, name: string, password: string): Promise<Warehouse> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A connection that is lost without a listener ends the process; the statement under way rejects anyway.
  client.on('error', () => undefined);
  const identifier = escapeIdentifier(name);
  await client.connect();
  try {
    const role = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
    const verb = role.rowCount === 0 ? 'CREATE' : 'ALTER';
    await client.query(`${verb} ROLE ${identifier} LOGIN PASSWORD ${escapeLiteral(password)}`);
    const database = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (database.rowCount === 0) await client.query(`CREATE DATABASE ${identifier} OWNER ${identifier}`);
    await client.query(`REVOKE CONNECT ON DATABASE ${identifier} FROM PUBLIC`);
    const own = client.database;
    if (own) await client.query(`REVOKE CONNECT ON DATABASE ${escapeIdentifier(own)} FROM PUBLIC`);
  } finally {
    await client.end();
  }
  const { hostname, port } = new URL(adminUrl);
  return { host: hostname, port: Number(port), database: name, username: name, password };
}
