import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { z } from 'zod';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { migrate } from '../../src/database/migrate.js';
import { createOrm } from '../../src/database/orm.js';
import { createEventFeed } from '../../src/events/event-feed.js';
import { createSequencer } from '../../src/events/sequencer.js';
import { defineJob } from '../../src/jobs/define-job.js';
import { record, silent, take, titlesOf } from '../events/event-house.js';
import { type CuttableProxy, openCuttableProxy } from '../support/cuttable-proxy.js';
import { eventually } from '../support/eventually.js';
import { type JobNode, openJobNode } from './job-house.js';

/** A server of its own, which these tests stop by pid; it comes back on the same port, behind a proxy that decides when. */
describe('while PostgreSQL restarts', () => {
  let dataDir: string;
  let server: EmbeddedPostgres;
  let proxy: CuttableProxy;
  const open: JobNode[] = [];

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-outage-'));
    server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
    const orm = await createOrm({ databaseUrl: server.url, poolSize: 2 });
    await migrate(orm);
    await orm.close(true);
    proxy = await openCuttableProxy(server.url);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((node) => node.close()));
  });
  afterAll(async () => {
    await proxy.close();
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function node(options: Omit<Parameters<typeof openJobNode>[0], 'databaseUrl'>): Promise<JobNode> {
    const opened = await openJobNode({ databaseUrl: proxy.url, ...options });
    open.push(opened);
    return opened;
  }

  /** SIGINT is the fast shutdown, SIGKILL a crash; the supervisor starts the server again. */
  async function restart(
    signal: 'SIGINT' | 'SIGKILL',
    meanwhile: () => Promise<void> = async () => undefined,
  ) {
    const before = server.pid;
    process.kill(before, signal);
    await proxy.cut();
    await meanwhile();
    await eventually(() => server.pid !== before);
    await eventually(async () => {
      const client = new Client({ connectionString: server.url });
      client.on('error', () => undefined);
      return client.connect().then(
        () => client.end().then(() => true),
        () => false,
      );
    });
    await proxy.mend();
  }

  const work = (run: (id: string) => Promise<void>) =>
    defineJob({
      name: 'work',
      payload: z.strictObject({ rowId: z.string() }),
      lockLifetimeMs: 1_000,
      run: ({ rowId }) => run(rowId),
    });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'enqueue is refused at once, says which service, and heals; the worker goes on (%s)',
    async (signal) => {
      const ran = new Set<string>();
      const definitions = [work(async (id) => void ran.add(id))];
      const api = await node({ definitions, role: 'api' });
      await node({ definitions });
      await api.runner.enqueue('work', { rowId: 'before' });
      await eventually(() => ran.has('before'));
      await restart(signal, async () => {
        await eventually(() => !api.runner.healthy());
        const started = performance.now();
        await expect(api.runner.enqueue('work', { rowId: 'during' })).rejects.toMatchObject({
          code: 'SERVICE_UNAVAILABLE',
          details: { service: 'job queue', retryAfter: 5 },
        });
        expect(performance.now() - started).toBeLessThan(3_500);
      });
      await eventually(() => api.runner.healthy());
      await api.runner.enqueue('work', { rowId: 'after' });
      await eventually(() => ran.has('after'));
      expect(ran.has('during')).toBe(false);
    },
  );

  it('a job that was running through a crash is done, if need be twice', async () => {
    const begun: string[] = [];
    const ended: string[] = [];
    const worker = await node({
      definitions: [
        work(async (id) => {
          begun.push(id);
          await eventually(() => restarted);
          ended.push(id);
        }),
      ],
    });
    let restarted = false;
    await worker.runner.enqueue('work', { rowId: 'long' });
    await eventually(() => begun.includes('long'));
    await restart('SIGKILL');
    restarted = true;
    await eventually(() => ended.includes('long'));
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await eventually(async () => (await client.query('select from jobs.agenda_jobs')).rowCount === 0);
    await client.end();
    // What the crash took back from earlier jobs comes again as well.
    const ends = ended.filter((id) => id === 'long');
    expect([1, 2]).toContain(ends.length);
  });

  it('a worker started while the store is away begins when it is there', async () => {
    const ran: string[] = [];
    const definitions = [work(async (id) => void ran.push(id))];
    const api = await node({ definitions, role: 'api' });
    let late: Promise<JobNode> | undefined;
    await restart('SIGINT', async () => {
      await eventually(() => !api.runner.healthy());
      late = node({ definitions });
    });
    await late;
    await eventually(() => api.runner.healthy());
    await api.runner.enqueue('work', { rowId: 'late' });
    await eventually(() => ran.includes('late'));
  });

  it('the event log goes on where it was: nothing lost, nothing twice', async () => {
    const { wake } = await node({ definitions: [], role: 'api' });
    const orm = await createOrm({ databaseUrl: proxy.url, poolSize: 4 });
    const database = { url: proxy.url, orm, close: () => orm.close(true) };
    const sequencer = createSequencer({ databaseUrl: proxy.url, wake, log: silent });
    await sequencer.connected();
    const feed = await createEventFeed({ orm, wake, log: silent });
    try {
      const followed = feed.subscribe({ organizationId: 'org_1', accepts: () => true });
      await record(database, wake, 'org_1', ['before']);
      expect(titlesOf(await take(followed, 1))).toEqual(['before']);
      await restart('SIGKILL');
      await record(database, wake, 'org_1', ['after']);
      expect(titlesOf(await take(followed, 1))).toEqual(['after']);
    } finally {
      await feed.close();
      await sequencer.close();
      await orm.close(true);
    }
  });

  it('none of it was an unhandled error, and the outage was said once', async () => {
    const api = await node({ definitions: [], role: 'api' });
    await restart('SIGINT', () => eventually(() => !api.runner.healthy()));
    await eventually(() => api.runner.healthy());
    const said = api.lines.filter((line) => line['room'] === 'jobs' && Number(line['level']) >= 30);
    expect(said.map((line) => line['msg'])).toEqual(['job store is away', 'job store is back']);
  });
});
