import type { Client } from 'pg';
import type { Logger } from 'pino';
import { FrugalClient } from '../database/frugal-client.js';

export interface SteadyClient {
  /** The present connection; undefined while there is none. */
  current(): Client | undefined;
  /** Resolves at the first connection, or when closed before it. */
  connected(): Promise<void>;
  close(): Promise<void>;
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 5_000;
const TIMEOUT_MS = 5_000;
/** A peer that vanished without a word is noticed by a query, not by silence. */
const PROBE_MS = 15_000;

/**
 * One PostgreSQL connection that comes back: lost, it is opened again after 50 ms, then twice as long each time, 5 s at
 * most. `prepare` runs on each new connection before it counts as current.
 */
export function createSteadyClient(options: {
  databaseUrl: string;
  /** application_name, to find the connection in pg_stat_activity. */
  name: string;
  log: Logger;
  prepare?(client: Client): Promise<void>;
  /** The new connection is current now. */
  onConnected?(): void;
}): SteadyClient {
  const { databaseUrl, name, log } = options;
  let resolveFirst: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    resolveFirst = resolve;
  });
  let current: Client | undefined;
  let closed = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let connecting = Promise.resolve();

  async function connect(): Promise<void> {
    const client = new FrugalClient({
      connectionString: databaseUrl,
      application_name: name,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      keepAlive: true,
    });
    // Both come after a loss, 'end' also after a failed connect; only the first one counts.
    let lost = false;
    const lose = (error?: Error) => {
      if (lost) return;
      lost = true;
      if (current === client) current = undefined;
      client.end().catch(() => undefined);
      if (closed) return;
      const delay = Math.min(FIRST_DELAY_MS * 2 ** failures, LONGEST_DELAY_MS);
      failures += 1;
      log.warn(
        { connection: name, delay, reason: error?.message },
        'database connection lost, opening it again',
      );
      clearTimeout(timer);
      timer = setTimeout(open, delay);
    };
    client.on('error', lose);
    client.on('end', () => lose());
    try {
      await client.connect();
      await options.prepare?.(client);
    } catch (error) {
      return lose(error instanceof Error ? error : new Error(String(error)));
    }
    if (lost) return;
    if (closed) return client.end();
    current = client;
    failures = 0;
    resolveFirst();
    options.onConnected?.();
    timer = setTimeout(() => probe(client, lose), PROBE_MS);
  }

  function probe(client: Client, lose: (error: Error) => void): void {
    if (current !== client) return;
    client.query('SELECT 1').then(() => {
      if (current === client && !closed) timer = setTimeout(() => probe(client, lose), PROBE_MS);
    }, lose);
  }

  function open(): void {
    connecting = connect();
  }

  open();
  return {
    current: () => current,
    connected: () => first,
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(timer);
      await connecting;
      const client = current;
      current = undefined;
      await client?.end();
      resolveFirst();
    },
  };
}
