import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openRunHouse, type RunHouse } from './run-house.js';

const TOKEN = 't0ken/of+the.api=';
const source = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('[{"x":1}]');
});
let house: RunHouse;

beforeAll(async () => {
  source.listen(0, '127.0.0.1');
  await once(source, 'listening');
  const { port } = source.address() as AddressInfo;
  house = await openRunHouse({
    CONNECTION_ALLOWED_HOSTS: `127.0.0.1:${port}`,
    RUN_CONCURRENCY_PER_PIPELINE: '1',
  });
  const made = await house.engineer('POST', '/api/v1/connections', {
    name: 'api',
    type: 'http',
    config: { baseUrl: `http://127.0.0.1:${port}`, auth: 'bearer' },
    credentials: { token: TOKEN },
  });
  expect(made.status).toBe(201);
});

afterAll(async () => {
  await house?.close();
  source.close();
});

const definition = (sql: string, from = '{ id: a, type: inline, rows: [{ x: 1 }] }') => `
apiVersion: v1
name: telling
source: ${from}
transformations: { id: b, type: sql, inputs: [a], sql: ${JSON.stringify(sql)} }
target: { id: t, type: file, path: telling.parquet, mode: OVERWRITE }
`;
const logs = (runId: string, query = '') =>
  house.engineer('GET', `/api/v1/runs/${runId}/logs${query && `?${query}`}`);

async function failed(yamlDefinition: string) {
  const runId = await house.start(await house.createPipeline(yamlDefinition));
  const watched = house.watch(runId, { after: 0 });
  await watched.closed;
  const { body } = await house.engineer('GET', `/api/v1/runs/${runId}`);
  return { runId, body, messages: watched.messages };
}

describe('what a run tells', () => {
  it('holds no credentials of its connections, whoever repeats them', async () => {
    const sql = `SELECT error('refused: ${TOKEN}, Bearer ${TOKEN}, ?key=${encodeURIComponent(TOKEN)}') FROM a`;
    const from = '{ id: a, type: http, connection: api, path: rows }';
    const { runId, body, messages } = await failed(definition(sql, from));
    expect(body).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringContaining('refused: [redacted], Bearer [redacted], ?key=[redacted]'),
      errors: { b: expect.stringContaining('refused: [redacted]') },
    });
    const lines = (await logs(runId, 'level=ERROR')).body;
    expect(lines).toEqual([
      expect.objectContaining({ taskId: 'b', message: expect.stringContaining('[redacted]') }),
    ]);
    const em = house.app.services.orm.em.fork();
    const kept = await em.execute(
      'SELECT run."error", run."healing", task."error" AS "taskError", message."body" FROM "run" JOIN "run_task" task ON task."run_id" = run."id" JOIN "run_message" message ON message."run_id" = run."id" WHERE run."id" = ?',
      [runId],
    );
    for (const told of [messages, kept])
      for (const form of [TOKEN, encodeURIComponent(TOKEN)]) expect(JSON.stringify(told)).not.toContain(form);
  });

  it('is masked where it is read, for it may quote rows', async () => {
    const { runId, body, messages } = await failed(
      definition("SELECT error('no room for ann@x.test') FROM a"),
    );
    expect(body.error).toContain('no room for •••');
    for (const told of [body, messages, (await logs(runId)).body])
      expect(JSON.stringify(told)).not.toContain('ann@x.test');
  });

  it('can be kept where it was cut in the middle of a character, or holds a NUL', async () => {
    const ends: string[] = [];
    for (const start of ['x', 'xx']) {
      const { body } = await failed(definition(`SELECT error('${start}' || repeat('😀', 9000)) FROM a`));
      ends.push(body.errors.b.slice(-1));
    }
    expect(ends.toSorted()).toEqual(['😀'.slice(-1), '\uFFFD']);
    const { body } = await failed(definition("SELECT error('a' || chr(0) || 'b') FROM a"));
    expect(body.overallStatus).toBe('FAILED');
  });
});

it('keeps 10,000 lines of a run however many workers write them, and gives them page by page', async () => {
  const pipelineId = await house.createPipeline(
    definition('SELECT count(*) AS n FROM range(1000000000000) AS r (i), a WHERE i % 3 = 1'),
  );
  const ahead = await house.start(pipelineId);
  await house.watch(ahead).until(({ taskId, status }) => taskId === 'b' && status === 'RUNNING');
  const runId = await house.start(pipelineId, { yamlDefinition: definition("SELECT error('no') FROM a") });
  // What an earlier worker has written; the run waits for its place meanwhile.
  await house.app.services.orm.em.fork().execute(
    `INSERT INTO "run_message" ("run_id", "seq", "type", "body", "timestamp")
     SELECT "id", "last_seq" + n, 'log', jsonb_build_object('level', 'INFO', 'taskId', 'a', 'message', 'line ' || n), now()
     FROM "run", generate_series(1, 9999) AS n WHERE "id" = ?;
     UPDATE "run" SET "last_seq" = "last_seq" + 9999 WHERE "id" = ?`,
    [runId, runId],
  );
  await house.engineer('POST', `/api/v1/runs/${ahead}/cancel`);
  await house.watch(runId, { after: 0 }).closed;

  const read: { seq: number; message: string; level: string }[] = [];
  for (let page = (await logs(runId, 'limit=1000')).body; page.length > 0; ) {
    read.push(...page);
    page = (await logs(runId, `limit=1000&after=${page.at(-1).seq}`)).body;
  }
  expect(read.slice(0, 9_999).map(({ message }) => message)).toEqual(
    Array.from({ length: 9_999 }, (_, index) => `line ${index + 1}`),
  );
  const seqs = read.map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other));
  expect(read).toHaveLength(10_001);
  expect(read.at(-1)).toMatchObject({ level: 'WARN', message: expect.stringContaining('10000 log lines') });
  expect((await logs(runId, 'level=WARN')).body).toEqual(
    read.slice(9_999).filter(({ level }) => level !== 'INFO'),
  );
  expect((await logs(runId, 'taskId=a&limit=2&after=3')).body.map(({ seq }: { seq: number }) => seq)).toEqual(
    [4, 5],
  );
  expect((await logs(runId, 'taskId=nosuch')).body).toEqual([]);
  expect((await logs(runId, 'limit=1001')).status).toBe(400);
  expect((await logs(runId, 'after=-1')).status).toBe(400);
});
