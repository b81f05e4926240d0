import { fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { WakeChannel } from '../../src/context.js';
import { newId } from '../../src/entities/ids.js';
import { createSequencer, EVENTS_SEQUENCED, type Sequencer } from '../../src/events/sequencer.js';
import { createWakeChannel, type OpenWakeChannel } from '../../src/events/wake-channel.js';
import { openCuttableProxy } from '../support/cuttable-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { deafChannel, record, silent } from './event-house.js';

describe('sequencer', () => {
  let database: TestDatabase;
  let wake: OpenWakeChannel;
  const closing: { close(): Promise<void> }[] = [];
  const clients: Client[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    wake = createWakeChannel({ databaseUrl: database.url, log: silent });
    await wake.connected();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end()));
    await Promise.all(closing.splice(0).map((open) => open.close()));
    await wake.close();
    await database.orm.em.fork().execute('truncate event');
  });

  async function sequencer(
    options: { databaseUrl?: string; pollMs?: number; batchSize?: number; wake?: WakeChannel } = {},
  ): Promise<Sequencer> {
    const opened = createSequencer({
      databaseUrl: database.url,
      wake,
      log: silent,
      pollMs: 60_000,
      ...options,
    });
    closing.push(opened);
    await opened.connected();
    return opened;
  }

  async function client(): Promise<Client> {
    const opened = new Client({ connectionString: database.url });
    clients.push(opened);
    await opened.connect();
    return opened;
  }

  async function insert(connection: Client, title: string): Promise<void> {
    await connection.query(
      `insert into event (id, organization_id, type, subject_id, payload, timestamp)
       values ($1, 'org_1', 'ticket.created', 'tkt_1', jsonb_build_object('title', $2::text), now())`,
      [newId('evt'), title],
    );
  }

  /** A reader that only ever asks for what lies behind the last number it saw. */
  function reader(connection: Client) {
    let last = 0;
    return async (): Promise<string[]> => {
      const { rows } = await connection.query<{ seq: string; title: string }>(
        `select seq, payload->>'title' as title from event where seq > $1 order by seq`,
        [last],
      );
      last = Number(rows.at(-1)?.seq ?? last);
      return rows.map(({ title }) => title);
    };
  }

  const unnumbered = async (): Promise<number | undefined> => {
    const [row] = await database.orm.em
      .fork()
      .execute('select count(*)::int as n from event where seq is null');
    return row?.n;
  };

  it('a transaction that began first and commits last is not missed by a reader past the other one', async () => {
    await sequencer();
    const [early, late] = [await client(), await client()];
    const read = reader(await client());
    await early.query('begin');
    await insert(early, 'began first');
    await late.query('begin');
    await insert(late, 'committed first');
    await late.query('commit');
    wake.wake('events');
    await eventually(async () => (await unnumbered()) === 0);
    expect(await read()).toEqual(['committed first']);
    await early.query('commit');
    wake.wake('events');
    await eventually(async () => (await unnumbered()) === 0);
    expect(await read()).toEqual(['began first']);
  });

  it('numbers a batch in the order of insertion, whatever ids and places in the table say', async () => {
    const writer = await client();
    for (const position of [3, 1, 2])
      await writer.query(
        `insert into event (id, position, organization_id, type, subject_id, payload, timestamp)
         values ($1, $2, 'org_1', 'ticket.created', 'tkt_1', jsonb_build_object('title', $3::text), now())`,
        [newId('evt'), -position, String(-position)],
      );
    await sequencer();
    await eventually(async () => (await unnumbered()) === 0);
    expect(await reader(writer)()).toEqual(['-3', '-2', '-1']);
  });

  it('numbers what a writer killed between commit and wake left behind', async () => {
    await insert(await client(), 'left before start');
    await sequencer({ wake: deafChannel, pollMs: 50 });
    await eventually(async () => (await unnumbered()) === 0);
    await insert(await client(), 'left later');
    await eventually(async () => (await unnumbered()) === 0);
  });

  it('tells readers after numbering', async () => {
    await sequencer();
    const seen: number[] = [];
    wake.on(EVENTS_SEQUENCED, () => void unnumbered().then((left = -1) => seen.push(left)));
    await record(database, wake, 'org_1', ['one', 'two', 'three']);
    await eventually(() => seen.length > 0);
    expect(seen[0]).toBe(0);
  });

  it('a connection cut in the middle of a batch numbers nothing, and the batch is done again', async () => {
    const writer = await client();
    for (let index = 0; index < 20; index += 1) await insert(writer, `event ${index}`);
    const blocker = await client();
    await blocker.query('begin');
    await blocker.query(`select id from event order by position offset 10 limit 1 for update`);
    await sequencer();
    const [stuck] = await waitingSequencers(1);
    expect(await unnumbered()).toBe(20);
    await database.orm.em.fork().execute('select pg_terminate_backend(?)', [stuck?.['pid']]);
    await waitingSequencers(1, stuck?.['pid']);
    expect(await unnumbered()).toBe(20);
    await blocker.query('commit');
    await eventually(async () => (await unnumbered()) === 0);
    const titles = await reader(writer)();
    expect(titles).toEqual(Array.from({ length: 20 }, (_, index) => `event ${index}`));
  });

  async function waitingSequencers(count: number, notPid: unknown = 0): Promise<Record<string, unknown>[]> {
    let rows: Record<string, unknown>[] = [];
    await eventually(async () => {
      rows = await database.orm.em.fork().execute(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
         and application_name = 'opsgraph-sequencer' and pid <> ?`,
        [notPid],
      );
      return rows.length === count;
    });
    return rows;
  }

  it('a process killed by SIGKILL while it numbers leaves the log whole for the next one', async () => {
    const writer = await client();
    for (let index = 0; index < 20; index += 1) await insert(writer, `event ${index}`);
    const blocker = await client();
    await blocker.query('begin');
    await blocker.query(`select id from event order by position offset 10 limit 1 for update`);
    const child = fork(new URL('./sequencer-process.ts', import.meta.url), [database.url], { execArgv: [] });
    await waitingSequencers(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await sequencer();
    await blocker.query('commit');
    await eventually(async () => (await unnumbered()) === 0);
    expect(await reader(writer)()).toEqual(Array.from({ length: 20 }, (_, index) => `event ${index}`));
  });

  it('two at once beside writers that commit in any order: a reader sees each event once, each writer in order', async () => {
    await sequencer({ batchSize: 7 });
    await sequencer({ batchSize: 7, pollMs: 20 });
    const [writers, events] = [6, 60];
    const write = async (writer: number): Promise<void> => {
      const connection = await client();
      for (let index = 0; index < events; index += 1) {
        await connection.query('begin');
        await insert(connection, `${writer}:${index}`);
        if (Math.random() < 0.3) await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
        await connection.query('commit');
        wake.wake('events');
      }
    };
    const seen: string[] = [];
    const read = reader(await client());
    let writing = true;
    const reading = (async () => {
      while (writing || seen.length < writers * events) seen.push(...(await read()));
    })();
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    writing = false;
    await reading;
    expect(new Set(seen).size).toBe(writers * events);
    expect(seen).toHaveLength(writers * events);
    for (let writer = 0; writer < writers; writer += 1)
      expect(seen.filter((title) => title.startsWith(`${writer}:`))).toEqual(
        Array.from({ length: events }, (_, index) => `${writer}:${index}`),
      );
    const { rows } = await (await client()).query('select seq from event order by seq');
    const numbers = rows.map(({ seq }) => Number(seq));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
  });

  it('works on after its connection was lost', async () => {
    const proxy = await openCuttableProxy(database.url);
    const opened = await sequencer({ databaseUrl: proxy.url });
    await proxy.cut();
    await eventually(() => !opened.healthy());
    await insert(await client(), 'during the outage');
    await proxy.mend();
    await eventually(async () => (await unnumbered()) === 0);
    expect(opened.healthy()).toBe(true);
    await opened.close();
    await proxy.close();
  });
});
