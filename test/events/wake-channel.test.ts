import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createWakeChannel, type OpenWakeChannel } from '../../src/events/wake-channel.js';
import { openCuttableProxy } from '../support/cuttable-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { silent } from './event-house.js';

describe('wake channel', () => {
  let database: TestDatabase;
  const open: OpenWakeChannel[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((channel) => channel.close()));
  });
  afterAll(() => database.close());

  async function node(databaseUrl = database.url): Promise<OpenWakeChannel> {
    const channel = createWakeChannel({ databaseUrl, log: silent });
    open.push(channel);
    await channel.connected();
    return channel;
  }

  function counted(channel: OpenWakeChannel, topic: string): { count: number } {
    const heard = { count: 0 };
    channel.on(topic, () => {
      heard.count += 1;
    });
    return heard;
  }

  async function connections(): Promise<Record<string, unknown>[]> {
    return database.orm.em.fork().execute(
      `select pid, application_name, state, xact_start from pg_stat_activity
       where datname = current_database() and application_name in ('opsgraph-listen', 'opsgraph-notify')`,
    );
  }

  it('reaches other nodes, and the own one directly, once', async () => {
    const [here, there] = [await node(), await node()];
    const [own, other] = [counted(here, 'events'), counted(there, 'events')];
    const deaf = counted(there, 'other');
    const answered = new Promise<void>((resolve) => {
      here.on('answer', resolve);
    });
    there.on('events', () => there.wake('answer'));
    here.wake('events');
    await answered;
    expect([own.count, other.count, deaf.count]).toEqual([1, 1, 0]);
  });

  it('stops calling a listener that left', async () => {
    const [here, there] = [await node(), await node()];
    const heard: string[] = [];
    const leave = there.on('events', () => void heard.push('left'));
    const both = new Promise<void>((resolve) => {
      there.on('events', resolve);
    });
    leave();
    here.wake('events');
    await both;
    expect(heard).toEqual([]);
  });

  it('turns thousands of wakes into a handful of notifications', async () => {
    const here = await node();
    const raw = new Client({ connectionString: database.url });
    await raw.connect();
    await raw.query('LISTEN opsgraph_wake');
    const payloads: string[] = [];
    const last = new Promise<void>((resolve) => {
      raw.on('notification', ({ payload = '' }) => {
        payloads.push(payload);
        if (payload.includes('last')) resolve();
      });
    });
    for (let turn = 0; turn < 10; turn += 1) {
      for (let index = 0; index < 1_000; index += 1) here.wake(`topic.${index % 3}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    here.wake('last');
    await last;
    await raw.end();
    expect(payloads.length).toBeLessThanOrEqual(10);
    expect(new Set(payloads.flatMap((payload) => payload.split('\n')))).toEqual(
      new Set(['topic.0', 'topic.1', 'topic.2', 'last']),
    );
  });

  it('delivers more topics than one payload holds', async () => {
    const [here, there] = [await node(), await node()];
    const topics = Array.from({ length: 500 }, (_, index) => `run:${index}:${'x'.repeat(100)}`);
    const heard = new Set<string>();
    const all = new Promise<void>((resolve) => {
      for (const topic of topics)
        there.on(topic, () => {
          if (heard.add(topic).size === topics.length) resolve();
        });
    });
    for (const topic of topics) here.wake(topic);
    await all;
    expect(heard.size).toBe(500);
  });

  it('wakes every listener once after its connection was lost, and works on', async () => {
    const proxy = await openCuttableProxy(database.url);
    const [here, there] = [await node(), await node(proxy.url)];
    const [events, jobs] = [counted(there, 'events'), counted(there, 'jobs')];
    await proxy.cut();
    await eventually(() => !there.healthy());
    here.wake('jobs');
    await proxy.mend();
    await eventually(() => events.count === 1 && jobs.count === 1);
    here.wake('jobs');
    await eventually(() => jobs.count === 2);
    expect(events.count).toBe(1);
    await there.close();
    await proxy.close();
  });

  it('sends what was woken while the notifying connection was away', async () => {
    const proxy = await openCuttableProxy(database.url);
    const [here, there] = [await node(proxy.url), await node()];
    const heard = counted(there, 'late');
    await proxy.cut();
    await eventually(() => !here.healthy());
    here.wake('late');
    await proxy.mend();
    await eventually(() => heard.count === 1);
    await here.close();
    await proxy.close();
  });

  it('never sits in a transaction, and closing leaves no connection behind', async () => {
    const here = await node();
    const heard = counted(here, 'events');
    here.wake('events');
    await eventually(() => heard.count === 1);
    const during = await connections();
    expect(during.map((row) => row['application_name']).sort()).toEqual([
      'opsgraph-listen',
      'opsgraph-notify',
    ]);
    await eventually(async () =>
      (await connections()).every((row) => row['state'] === 'idle' && row['xact_start'] === null),
    );
    await here.close();
    here.wake('events');
    await eventually(async () => (await connections()).length === 0);
    expect(heard.count).toBe(1);
  });

  it('sends what was woken just before closing', async () => {
    const [here, there] = [await node(), await node()];
    const heard = counted(there, 'goodbye');
    here.wake('goodbye');
    await here.close();
    await eventually(() => heard.count === 1);
  });

  it('survives a listener that throws', async () => {
    const here = await node();
    here.on('events', () => {
      throw new Error('mine');
    });
    const heard = counted(here, 'events');
    here.wake('events');
    await eventually(() => heard.count === 1);
  });

  it('closes while the database is away', async () => {
    const channel = createWakeChannel({ databaseUrl: 'postgres://127.0.0.1:1/none', log: silent });
    channel.wake('events');
    expect(channel.healthy()).toBe(false);
    await channel.close();
  });

  it.each(['', '*', 'two\nlines', 'x'.repeat(201)])('refuses the topic %j', async (topic) => {
    const here = await node();
    expect(() => here.wake(topic)).toThrow(TypeError);
  });
});
