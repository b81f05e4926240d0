import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { watch } from '../runs/watched-run.js';
import { clientCredential, userCredential } from '../support/credentials.js';
import { caller } from '../support/rest.js';
import { type ServerProcess, startServerProcess } from './server-process.js';

const definition = `
apiVersion: v1
name: long
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations:
  - { id: quick, type: sql, inputs: [a], sql: "SELECT x FROM a" }
  - { id: slow, type: sql, inputs: [quick], sql: "SELECT count(*) AS n FROM range(1500000000) AS r (i), quick WHERE i % 3 = 1" }
target: { id: t, type: postgres, connection: warehouse, table: public.counted, mode: APPEND }
`;

describe('a server process on its own embedded PostgreSQL', () => {
  let dataDir: string;
  let server: ServerProcess | undefined;

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph process '));
  });

  afterAll(async () => {
    await server?.kill('SIGTERM');
    await rm(dataDir, { recursive: true, force: true });
  });

  const start = async () => {
    server = await startServerProcess({ DATA_DIR: dataDir });
    return server.url;
  };

  it('finds its data at the second start, and ends with 0 within 10 s of SIGTERM', async () => {
    let url = await start();
    const call = async () => caller(url, await userCredential(url, 'agent@acme.test'));
    const { status, body: ticket } = await (await call())('POST', '/v1/tickets', {
      title: 'Printer on fire',
    });
    expect(status).toBe(201);
    const before = performance.now();
    expect(await server?.kill('SIGTERM')).toBe(0);
    expect(performance.now() - before).toBeLessThan(10_000);
    url = await start();
    expect((await (await call())('GET', `/v1/tickets/${ticket.id}`)).body).toEqual(ticket);
  }, 120_000);

  it('loses nothing to kill -9 in the middle of writes and of a run', async () => {
    let url = server?.url ?? (await start());
    const agent = caller(url, await userCredential(url, 'agent@acme.test'));
    const engineer = caller(url, await clientCredential(url, 'demo-engineer'));
    const pipeline = await engineer('POST', '/api/v1/pipelines', {
      name: 'long',
      yamlDefinition: definition,
    });
    const { body } = await engineer('POST', `/api/v1/pipelines/${pipeline.body.id}/run`);
    const begun = watch(url, body.runId, { credential: await clientCredential(url, 'demo-engineer') });
    await begun.until(({ taskId, status }) => taskId === 'slow' && status === 'RUNNING');
    begun.socket.terminate();

    const answered: string[] = [];
    const writing = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; n < 1_000; n += 1) {
        const answer = await agent('POST', '/v1/tickets', { title: `Writer ${writer}, ticket ${n}` });
        answered.push(answer.body.id);
        if (answered.length === 40) void server?.kill('SIGKILL');
      }
    });
    const outcomes = await Promise.allSettled(writing);
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    await server?.kill('SIGKILL');

    url = await start();
    const credential = await clientCredential(url, 'demo-engineer');
    const manager = caller(url, await userCredential(url, 'manager@acme.test'));
    const { body: tickets } = await manager('GET', '/v1/tickets?limit=1000');
    const stored = tickets.data.map(({ id }: { id: string }) => id);
    expect(stored).toEqual(expect.arrayContaining(answered));
    expect(tickets.meta.pagination.total).toBe(stored.length);
    const log = await manager('POST', '/graphql', {
      query: '{ tickets(limit: 1) { meta { pagination { total } } } }',
    });
    expect(log.body.data.tickets.meta.pagination.total).toBe(stored.length);

    // A worker's lease of 30 s has to run out first.
    expect(await watch(url, body.runId, { credential }).closed).toBe(1000);
    const run = await caller(url, credential)('GET', `/api/v1/runs/${body.runId}`);
    expect(run.body).toMatchObject({
      overallStatus: 'COMPLETED',
      attempts: 2,
      rowsWritten: 1,
      taskStatuses: { a: 'SUCCESS', quick: 'SUCCESS', slow: 'SUCCESS', t: 'SUCCESS' },
    });
  }, 240_000);
});

describe('a start that cannot succeed', () => {
  it('says so in a sentence and ends', async () => {
    await expect(startServerProcess({ PORT: 'eighty' })).rejects.toThrow(/78: .*PORT: /);
    await expect(
      startServerProcess({ DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:1/none', DATA_DIR: tmpdir() }),
    ).rejects.toThrow(/Opsgraph cannot start: /);
  });
});
