import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { caller } from '../support/rest.js';
import { openRunHouse, type RunHouse } from './run-house.js';

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse();
  const files = path.join(house.app.dataDir, 'files');
  await mkdir(files, { recursive: true });
  await writeFile(path.join(files, 'orders.csv'), 'id,country,amount\n1,PL,10.50\n2,DE,20.00\n3,PL,1.25\n');
  const duckdb = await DuckDBInstance.create(':memory:');
  const connection = await duckdb.connect();
  const names = "SELECT * FROM (VALUES ('PL', 'Poland'), ('DE', 'Germany')) AS c (country, name)";
  await connection.run(`COPY (${names}) TO '${path.join(files, 'countries.parquet')}' (FORMAT parquet)`);
  connection.closeSync();
  duckdb.closeSync();
});

afterAll(() => house.close());

const definition = `
apiVersion: v1
name: revenue
source:
  - { id: orders, type: file, path: orders.csv }
  - { id: countries, type: file, path: countries.parquet }
transformations:
  - { id: totals, type: sql, inputs: [orders], sql: "SELECT country, sum(amount)::DECIMAL(18,2) AS total FROM orders GROUP BY country" }
  - { id: named, type: sql, inputs: [totals, countries], sql: "SELECT name, total FROM totals JOIN countries USING (country)" }
target:
  - { id: lake, type: file, path: out/revenue.parquet, mode: OVERWRITE }
  - { id: mart, type: postgres, connection: warehouse, table: public.revenue, mode: UPSERT, keys: [name] }
`;

describe('a run', () => {
  it('takes CSV and Parquet through SQL to Parquet and PostgreSQL, and says how it went', async () => {
    await house.warehouse.query('CREATE TABLE public.revenue (name text PRIMARY KEY, total numeric(18,2))');
    await house.warehouse.query("INSERT INTO public.revenue VALUES ('Poland', 0), ('France', 7)");
    const pipelineId = await house.createPipeline(definition);
    const { status, body } = await house.engineer('POST', `/api/v1/pipelines/${pipelineId}/run`, {
      triggeredBy: 'nightly',
    });
    expect([status, body]).toEqual([
      202,
      {
        runId: expect.any(String),
        pipelineId,
        status: expect.stringMatching(/^(PENDING|RUNNING)$/),
        taskCount: 6,
        engine: 'BATCH',
      },
    ]);
    expect(await house.watch(body.runId).closed).toBe(1000);

    const run = await house.engineer('GET', `/api/v1/runs/${body.runId}`);
    expect(run.body).toEqual({
      runId: body.runId,
      pipelineId,
      overallStatus: 'COMPLETED',
      taskStatuses: Object.fromEntries(
        ['orders', 'countries', 'totals', 'named', 'lake', 'mart'].map((id) => [id, 'SUCCESS']),
      ),
      errors: {},
      error: null,
      startedAt: expect.any(String),
      finishedAt: expect.any(String),
      durationMs: expect.any(Number),
      engine: 'BATCH',
      triggeredBy: 'nightly',
      rowsRead: 5,
      rowsWritten: 4,
      attempts: 1,
      healing: [],
    });
    const { rows } = await house.warehouse.query('SELECT name, total FROM public.revenue ORDER BY name');
    expect(rows).toEqual([
      { name: 'France', total: '7.00' },
      { name: 'Germany', total: '20.00' },
      { name: 'Poland', total: '11.75' },
    ]);
    expect(await readdir(path.join(house.app.dataDir, 'files/out'))).toEqual(['revenue.parquet']);
    expect(await readdir(path.join(house.app.dataDir, 'runs'))).toEqual([]);
    expect((await house.engineer('GET', `/api/v1/pipelines/${pipelineId}`)).body.status).toBe('SUCCESS');
  });

  it('may be given a definition of its own, which the pipeline does not keep', async () => {
    const pipelineId = await house.createPipeline('not: a pipeline');
    const yamlDefinition = definition
      .replaceAll('revenue', 'once')
      .replace(/, mode: UPSERT.*\}/, ', mode: APPEND }');
    const runId = await house.start(pipelineId, { yamlDefinition });
    expect(await house.watch(runId).closed).toBe(1000);
    expect((await house.engineer('GET', `/api/v1/runs/${runId}`)).body.overallStatus).toBe('COMPLETED');
    expect((await house.engineer('GET', `/api/v1/pipelines/${pipelineId}`)).body.yamlDefinition).toBe(
      'not: a pipeline',
    );
  });

  it('is started on demand, and retried, also of a pipeline that is not active', async () => {
    const pipelineId = await house.createPipeline(
      `
apiVersion: v1
name: resting
source: { id: a, type: file, path: resting.csv }
target: { id: t, type: file, path: out/rested.csv, mode: OVERWRITE }
`,
      { isActive: false },
    );
    const runId = await house.start(pipelineId);
    await house.watch(runId, { after: 0 }).closed;
    expect((await house.engineer('GET', `/api/v1/runs/${runId}`)).body.overallStatus).toBe('FAILED');
    await writeFile(path.join(house.app.dataDir, 'files/resting.csv'), 'x\n1\n');
    const { body } = await house.engineer('POST', `/api/v1/runs/${runId}/retry`);
    await house.watch(body.runId, { after: 0 }).closed;
    expect((await house.engineer('GET', `/api/v1/runs/${body.runId}`)).body.overallStatus).toBe('COMPLETED');
    expect((await house.engineer('GET', `/api/v1/pipelines/${pipelineId}`)).body.isActive).toBe(false);
  });

  it('does not start from a definition with faults, and names all of them with their lines', async () => {
    const yamlDefinition = `apiVersion: v1
name: broken
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations:
  - { id: b, type: sql, inputs: [c], sql: "SELECT 1" }
  - { id: c, type: sql, inputs: [b], sql: "SELECT 1" }
  - { id: d, type: sql, inputs: [nowhere], sql: "SELECT 1" }
  - { id: e, type: sql, inputs: [a], sql: SELEC nonsense }
target: { id: t, type: file, path: t.parquet, mode: OVERWRITE }
`;
    const pipelineId = await house.createPipeline(yamlDefinition);
    const { status, body } = await house.engineer('POST', `/api/v1/pipelines/${pipelineId}/run`);
    expect([status, body.error]).toEqual([400, 'BAD_REQUEST']);
    const messages = body.details.map(({ message }: { message: string }) => message);
    expect(messages).toContainEqual(expect.stringMatching(/^line 7, column \d+: .*nowhere/));
    expect(messages).toContainEqual(expect.stringMatching(/^line [56], column \d+: .*waits for itself/));
    expect(messages).toContainEqual(
      expect.stringMatching(/^line 8, column \d+: SQL: syntax error at or near "SELEC"/),
    );
    const onlySql = yamlDefinition.replace(/^ {2}- .* id: [bcd],.*\n/gm, '');
    const again = await house.engineer('POST', `/api/v1/pipelines/${pipelineId}/run`, {
      yamlDefinition: onlySql,
    });
    expect([again.status, again.body.details.length]).toEqual([400, 1]);
    expect((await house.engineer('GET', `/api/v1/pipelines/${pipelineId}`)).body.status).toBe('DRAFT');
  });

  it('fails with the reason, leaves the target as it was, and starts nothing behind the failure', async () => {
    await house.warehouse.query('CREATE TABLE public.kept (x int)');
    await house.warehouse.query('INSERT INTO public.kept VALUES (42)');
    const pipelineId = await house.createPipeline(`
apiVersion: v1
name: failing
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations:
  - { id: good, type: sql, inputs: [a], sql: "SELECT x FROM a" }
  - { id: bad, type: sql, inputs: [good], sql: "SELECT error('no such luck') AS x FROM good" }
target: { id: t, type: postgres, connection: warehouse, table: public.kept, mode: OVERWRITE }
`);
    const runId = await house.start(pipelineId);
    await house.watch(runId).closed;
    const { body } = await house.engineer('GET', `/api/v1/runs/${runId}`);
    expect(body).toMatchObject({
      overallStatus: 'FAILED',
      // good is computed together with bad, and its rows are kept nowhere.
      taskStatuses: { a: 'SUCCESS', good: 'SKIPPED', bad: 'FAILED', t: 'UPSTREAM_FAILED' },
      errors: { bad: expect.stringContaining('no such luck') },
      error: expect.stringMatching(/^bad: .*no such luck/),
      rowsWritten: 0,
    });
    expect((await house.warehouse.query('SELECT x FROM public.kept')).rows).toEqual([{ x: 42 }]);
    expect((await house.engineer('GET', `/api/v1/pipelines/${pipelineId}`)).body.status).toBe('FAILED');
  });

  it('tries a task again after a passing fault, and keeps a record of it', async () => {
    const pipelineId = await house.createPipeline(
      `
apiVersion: v1
name: healing
source: { id: a, type: inline, rows: [{ x: 1 }] }
target: { id: t, type: postgres, connection: flaky, table: public.healed, mode: APPEND }
retry: { type: fixed, interval: PT0.2S, maxAttempts: 50 }
`,
    );
    const { hostname, port, pathname, username, password } = new URL(house.app.database.url);
    const connection = (reachable: boolean) => ({
      name: 'flaky',
      type: 'postgres',
      config: { host: hostname, port: reachable ? Number(port) : 1, database: pathname.slice(1) },
      credentials: { username: decodeURIComponent(username), password: decodeURIComponent(password) },
    });
    await house.engineer('POST', '/api/v1/connections', connection(false));
    const watched = house.watch(await house.start(pipelineId));
    await watched.until(({ taskId, status }) => taskId === 't' && status === 'HEALING');
    const pool = house.app.services.orm.em.fork();
    await pool.execute(`UPDATE "connection" SET "config" = ? WHERE "name" = 'flaky'`, [
      JSON.stringify(connection(true).config),
    ]);
    expect(await watched.closed).toBe(1000);
    const runId = watched.messages[0]?.runId;
    const { body } = await house.engineer('GET', `/api/v1/runs/${runId}`);
    expect(body).toMatchObject({ overallStatus: 'COMPLETED', rowsWritten: 1 });
    expect(body.healing.at(-1)).toMatchObject({ taskId: 't', strategy: 'RECONNECT', outcome: 'SUCCESS' });
  });

  it('is given up when it takes longer than the timeout of its pipeline', async () => {
    const pipelineId = await house.createPipeline(slow, { timeoutSeconds: 3 });
    const runId = await house.start(pipelineId);
    await house.watch(runId).closed;
    expect((await house.engineer('GET', `/api/v1/runs/${runId}`)).body).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/timeout/),
      taskStatuses: { forever: 'FAILED', t: 'CANCELLED' },
    });
  });
});

const slow = `
apiVersion: v1
name: slow
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: forever, type: sql, inputs: [a], sql: "SELECT count(*) AS n FROM range(1000000000000) AS r (i), a WHERE i % 3 = 1" }
target: { id: t, type: file, path: slow.parquet, mode: OVERWRITE }
`;

describe('cancelling', () => {
  it('interrupts the running statement, is the same when repeated, and too late for a run that has ended', async () => {
    const pipelineId = await house.createPipeline(slow);
    const runId = await house.start(pipelineId);
    const watched = house.watch(runId);
    await watched.until(({ taskId, status }) => taskId === 'forever' && status === 'RUNNING');
    const before = performance.now();
    const first = await house.engineer('POST', `/api/v1/runs/${runId}/cancel`);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect([first.status, first.body]).toEqual([
      200,
      { runId, status: 'CANCELLED', message: expect.any(String) },
    ]);
    expect(await watched.closed).toBe(1000);
    expect((await house.engineer('GET', `/api/v1/runs/${runId}`)).body).toMatchObject({
      overallStatus: 'CANCELLED',
      taskStatuses: { a: 'SUCCESS', forever: 'CANCELLED', t: 'CANCELLED' },
    });
    expect((await house.engineer('POST', `/api/v1/runs/${runId}/cancel`)).status).toBe(200);

    const over = await house.start(
      await house.createPipeline(slow.replace('range(1000000000000)', 'range(10)')),
    );
    await house.watch(over).closed;
    const late = await house.engineer('POST', `/api/v1/runs/${over}/cancel`);
    expect([late.status, late.body.error]).toEqual([409, 'CONFLICT']);
  });

  it('overrules a worker that does not answer any more', async () => {
    const pipelineId = await house.createPipeline(slow);
    const runId = await house.start(pipelineId);
    const watched = house.watch(runId);
    await watched.until(({ taskId, status }) => taskId === 'forever' && status === 'RUNNING');
    const em = house.app.services.orm.em.fork();
    await em.execute(`UPDATE "run" SET "lease_owner" = 'a machine that burnt down' WHERE "id" = ?`, [runId]);
    const { status, body } = await house.engineer('POST', `/api/v1/runs/${runId}/cancel`);
    expect([status, body.status]).toEqual([200, 'CANCELLED']);
    expect(await watched.closed).toBe(1000);
  });
});

describe('what is not there', () => {
  it.each([
    ['GET', '/api/v1/runs/01a1fb3c-6ba4-7748-a964-b27f88c25ee9', 404, 'NOT_FOUND'],
    ['POST', '/api/v1/runs/01a1fb3c-6ba4-7748-a964-b27f88c25ee9/cancel', 404, 'NOT_FOUND'],
    ['POST', '/api/v1/pipelines/01a1fb3c-6ba4-7748-a964-b27f88c25ee9/run', 404, 'NOT_FOUND'],
    ['GET', '/api/v1/runs/42', 400, 'BAD_REQUEST'],
    ['PUT', '/api/v1/runs/42', 405, 'METHOD_NOT_ALLOWED'],
  ] as const)('%s %s is %i', async (method, where, status, error) => {
    const answer = await house.engineer(method, where);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
  });

  it("includes another organization's runs", async () => {
    const runId = await house.start(
      await house.createPipeline(slow.replace('range(1000000000000)', 'range(10)')),
    );
    const credential = await house.app.platform('demo-globex-engineer');
    const stranger = caller(house.app.url, credential);
    expect((await stranger('GET', `/api/v1/runs/${runId}`)).status).toBe(404);
    expect((await stranger('POST', `/api/v1/runs/${runId}/cancel`)).status).toBe(404);
    const watched = house.watch(runId, { credential });
    watched.socket.on('error', () => undefined);
    expect(await watched.closed).toBe(1006);
    expect(watched.messages).toEqual([]);
    await house.watch(runId).closed;
  });
});
