import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Client } from 'pg';
import { pino } from 'pino';
import { importSource } from '../scripts/import-source.ts';
import { openPool } from './support/open-pool.ts';

/**
 * What it costs a writer to tell the world: commits per second of a pool that inserts one event row per transaction,
 *   bare          nobody is told
 *   ours          wake after the commit, coalesced; sequencer and feed run beside it
 *   in-transaction  pg_notify in the writing transaction, as most examples do it
 * and milliseconds from the call that commits to the event in the hands of a subscriber on another node.
 *
 *   node bench/events.ts
 */
const WRITERS = 16;
const SECONDS = 3;
const ROUNDS = 3;
const DELIVERIES = 200;

const { startEmbeddedPostgres } = await importSource<typeof import('../src/database/embedded-postgres.js')>(
  'src/database/embedded-postgres.ts',
);
const house = await importSource<typeof import('./support/event-log.ts')>('bench/support/event-log.ts');

const INSERT = `INSERT INTO event (id, organization_id, type, subject_id, payload, timestamp)
  VALUES ($1, 'org_bench', 'ticket.created', 'tkt_bench', '{"title": "measured"}', now())`;

type Write = (client: Client, id: string) => Promise<unknown>;

const insertOnly: Write = (client, id) => client.query(INSERT, [id]);

const notifyInside: Write = async (client, id) => {
  await client.query('BEGIN');
  await client.query(INSERT, [id]);
  await client.query(`SELECT pg_notify('bench', '')`);
  await client.query('COMMIT');
};

const insertInside: Write = async (client, id) => {
  await client.query('BEGIN');
  await client.query(INSERT, [id]);
  await client.query('SELECT 1');
  await client.query('COMMIT');
};

async function commitsPerSecond(url: string, write: Write): Promise<number> {
  const pool = openPool({ connectionString: url, max: WRITERS });
  let commits = 0;
  const until = performance.now() + SECONDS * 1_000;
  const writer = async () => {
    const client = await pool.connect();
    while (performance.now() < until) {
      await write(client as unknown as Client, randomUUID());
      commits += 1;
    }
    client.release();
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  await pool.end();
  return commits / SECONDS;
}

const median = (values: number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-bench-events-'));
const server = await startEmbeddedPostgres({ dataDir });
try {
  await house.prepare(server.url);
  const log = pino({ level: 'warn' });
  const rates = { bare: [] as number[], ours: [] as number[], plain: [] as number[], notify: [] as number[] };
  let read = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await house.clear(server.url);
    rates.bare.push(await commitsPerSecond(server.url, insertOnly));
    await house.clear(server.url);
    const node = await house.openNode(server.url, log);
    const reading = (async () => {
      for await (const event of node.followed) if (event.seq !== null) read += 1;
    })();
    rates.ours.push(
      await commitsPerSecond(server.url, async (client, id) => {
        await insertOnly(client, id);
        node.wake.wake('events');
      }),
    );
    await node.close();
    await reading;
    rates.plain.push(await commitsPerSecond(server.url, insertInside));
    rates.notify.push(await commitsPerSecond(server.url, notifyInside));
  }
  const delay = median(await house.deliveries(server.url, log, DELIVERIES));
  const [bare, ours, plain, notify] = [rates.bare, rates.ours, rates.plain, rates.notify].map(median);
  process.stdout.write(
    `commits per second, one statement: bare ${bare?.toFixed(0)}, with wake, sequencer and feed ${ours?.toFixed(0)}, ratio ${((ours ?? 0) / (bare ?? 1)).toFixed(2)}\n` +
      `commits per second, four statements: bare ${plain?.toFixed(0)}, NOTIFY inside ${notify?.toFixed(0)}, ratio ${((notify ?? 0) / (plain ?? 1)).toFixed(2)}\n` +
      `events read meanwhile by one subscriber: ${((100 * read) / (rates.ours.reduce((a, b) => a + b) * SECONDS)).toFixed(0)} % of those committed\n` +
      `transaction begun to subscriber on another node, p50: ${delay.toFixed(1)} ms\n`,
  );
} finally {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
}
