import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { watchStatements } from '../tickets/statements.js';
import { openRunHouse, type RunHouse } from './run-house.js';

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse();
});
afterAll(() => house.close());

async function finish(pipelineId: string, body?: object) {
  const runId = await house.start(pipelineId, body);
  await house.watch(runId).closed;
  return (await house.engineer('GET', `/api/v1/runs/${runId}`)).body;
}

const rows = async (sql: string) => (await house.warehouse.query(sql)).rows;

describe('parameters of a run', () => {
  const yaml = `
apiVersion: v1
name: parameterised
parameters:
  - { id: least, type: INTEGER, default: 2 }
  - { id: word, type: STRING }
source: { id: a, type: inline, rows: [{ x: 1 }, { x: 2 }, { x: 3 }] }
transformations:
  - { id: kept, type: filter, inputs: [a], where: "x >= {{ params.least }}" }
  - { id: told, type: sql, inputs: [kept], sql: "SELECT x, {{ params.word }} AS word, {{ pipeline.name }} AS name FROM kept" }
target: { id: t, type: postgres, connection: warehouse, table: public.told, mode: OVERWRITE }
`;

  it('are bound as values of their type, and kept with the run', async () => {
    const pipelineId = await house.createPipeline(yaml, { name: "it's daily" });
    const run = await finish(pipelineId, { parameters: { word: "x' OR 1=1 --" } });
    expect(run).toMatchObject({
      overallStatus: 'COMPLETED',
      rowsRead: 3,
      rowsWritten: 2,
    });
    const query = { query: `{ run(id: "${run.runId}") { parameters } }` };
    expect((await house.engineer('POST', '/graphql', query)).body.data.run.parameters).toEqual({
      word: "x' OR 1=1 --",
    });
    expect(await rows('SELECT * FROM public.told ORDER BY x')).toEqual([
      { x: '2', word: "x' OR 1=1 --", name: "it's daily" },
      { x: '3', word: "x' OR 1=1 --", name: "it's daily" },
    ]);
  });

  it.each([
    ['unknown', { word: 'a', nobody: 1 }, 'parameters.nobody'],
    ['missing', {}, 'parameters.word'],
    ['of another type', { word: 'a', least: 'many' }, 'parameters.least'],
  ])('that are %s are refused by name, and nothing is started', async (_, parameters, field) => {
    const pipelineId = await house.createPipeline(yaml);
    const { status, body } = await house.engineer('POST', `/api/v1/pipelines/${pipelineId}/run`, {
      parameters,
    });
    expect(status).toBe(400);
    expect(body.details.map((detail: { field: string }) => detail.field)).toEqual([field]);
    expect((await house.engineer('GET', `/api/v1/runs?pipelineId=${pipelineId}`)).body).toEqual([]);
  });
});

describe('quality checks', () => {
  const yaml = (severity: string) => `
apiVersion: v1
name: checked
source: { id: a, type: inline, rows: [{ x: 1 }, { x: null }] }
target: { id: t, type: postgres, connection: warehouse, table: public.checked, mode: OVERWRITE }
quality:
  - { on: a, type: notNull, column: x, severity: ${severity} }
  - { on: a, type: rowCount, min: 1, severity: ERROR }
`;

  it('of severity ERROR fail the task that broke them, and nothing is written', async () => {
    const run = await finish(await house.createPipeline(yaml('ERROR')));
    expect(run).toMatchObject({
      overallStatus: 'FAILED',
      taskStatuses: { a: 'FAILED', t: 'UPSTREAM_FAILED' },
      error: expect.stringMatching(/^a: Quality: /),
    });
    expect(await rows("SELECT to_regclass('public.checked') AS made")).toEqual([{ made: null }]);
  });

  it('of severity WARNING are noted, and the pipeline says so', async () => {
    const pipelineId = await house.createPipeline(yaml('WARNING'));
    const run = await finish(pipelineId);
    expect(run).toMatchObject({ overallStatus: 'COMPLETED', rowsWritten: 2 });
    expect((await house.engineer('GET', `/api/v1/pipelines/${pipelineId}`)).body.status).toBe('WARNING');
    const query = {
      query: `{ run(id: "${run.runId}") { quality { taskId type severity passed failedRows } } }`,
    };
    expect((await house.engineer('POST', '/graphql', query)).body.data.run.quality).toEqual([
      { taskId: 'a', type: 'notNull', severity: 'WARNING', passed: false, failedRows: 1 },
      { taskId: 'a', type: 'rowCount', severity: 'ERROR', passed: true, failedRows: null },
    ]);
  });

  it('of many runs are read with one statement', async () => {
    const pipelineId = await house.createPipeline(yaml('WARNING'));
    for (let runs = 0; runs < 3; runs += 1) await finish(pipelineId);
    const watched = await watchStatements(house.app.services.orm);
    const query = `{ runs(pipelineId: "${pipelineId}") { taskStatuses tasks { taskId } quality { type passed } } }`;
    const { body } = await house.engineer('POST', '/graphql', { query });
    watched.stop();
    const found = [
      { type: 'notNull', passed: false },
      { type: 'rowCount', passed: true },
    ];
    expect(body.data.runs.map(({ quality }: { quality: unknown }) => quality)).toEqual([found, found, found]);
    const reads = watched.statements.filter(({ text }) => /from "run_task"/.test(text));
    expect(reads).toHaveLength(1);
  });

  it.each([
    ['run(id: $id) { overallStatus }', []],
    ['run(id: $id) { overallStatus quality { type } }', ['with its run']],
    ['run(id: $id) { ...on Run { taskStatuses errors } }', ['with its run']],
    ['run(id: $id) { ...Tasks }', ['with its run']],
    ['runs { tasks { taskId } }', ['alone']],
  ])('are read for %s: %j', async (selection, expected) => {
    const pipelineId = await house.createPipeline(yaml('WARNING'));
    const { runId } = await finish(pipelineId);
    const fragment = selection.includes('...Tasks') ? 'fragment Tasks on Run { tasks { taskId } }' : '';
    const declared = selection.includes('$id') ? '($id: UUID!)' : '';
    const watched = await watchStatements(house.app.services.orm);
    const { body } = await house.engineer('POST', '/graphql', {
      query: `query Watched${declared} { ${selection} } ${fragment}`,
      variables: { id: runId },
    });
    watched.stop();
    expect(body.errors).toBeUndefined();
    const reads = watched.statements.filter(({ text }) => /from "run_task"/.test(text));
    expect(reads.map(({ text }) => (/from "run" /.test(text) ? 'with its run' : 'alone'))).toEqual(expected);
  });
});

describe('an incremental source', () => {
  const yaml = (table: string) => `
apiVersion: v1
name: incremental
source: { id: s, type: postgres, connection: warehouse, table: public.log, incremental: { column: id } }
transformations: { id: js, type: javascript, inputs: [s], code: "function transform(row) { return { id: row.id, n: Number(row.id) + 1 } }" }
target: { id: t, type: postgres, connection: warehouse, table: ${table}, mode: APPEND }
`;

  it('goes on where the last run that succeeded stopped, and not where one failed or had a definition of its own', async () => {
    await house.warehouse.query(
      'CREATE TABLE public.log (id int PRIMARY KEY); INSERT INTO public.log VALUES (1), (2)',
    );
    const pipelineId = await house.createPipeline(yaml('public.copied'));
    expect((await finish(pipelineId)).error).toBeNull();
    await house.warehouse.query('INSERT INTO public.log VALUES (3)');
    // Its own definition begins at the beginning, and moves nothing.
    expect(await finish(pipelineId, { yamlDefinition: yaml('public.elsewhere') })).toMatchObject({
      rowsWritten: 3,
    });
    await house.warehouse.query('ALTER TABLE public.copied ADD CONSTRAINT small CHECK (id < 3)');
    expect(await finish(pipelineId)).toMatchObject({ overallStatus: 'FAILED' });
    await house.warehouse.query('ALTER TABLE public.copied DROP CONSTRAINT small');
    expect(await finish(pipelineId)).toMatchObject({ overallStatus: 'COMPLETED', rowsWritten: 1 });
    expect((await rows('SELECT id FROM public.copied ORDER BY id')).map(({ id }) => Number(id))).toEqual([
      1, 2, 3,
    ]);
    expect(await finish(pipelineId)).toMatchObject({
      overallStatus: 'COMPLETED',
      rowsRead: 0,
      rowsWritten: 0,
    });
  });

  it('begins anew when the pipeline is made to read another table, and goes on after any other change', async () => {
    await house.warehouse.query('CREATE TABLE public.log2 AS SELECT 1 AS id');
    const pipelineId = await house.createPipeline(yaml('public.both'));
    const change = (yamlDefinition: string) =>
      house.engineer('PUT', `/api/v1/pipelines/${pipelineId}`, { yamlDefinition });
    expect((await finish(pipelineId)).rowsRead).toBe(3);
    await change(yaml('public.both').replace('+ 1', '+ 2'));
    expect((await finish(pipelineId)).rowsRead).toBe(0);
    await change(yaml('public.both').replace('public.log', 'public.log2'));
    expect((await finish(pipelineId)).rowsRead).toBe(1);
    expect((await finish(pipelineId)).rowsRead).toBe(0);
  });
});

describe('a graph on one connection', () => {
  it('is pushed down as one transaction', async () => {
    await house.warehouse.query(
      'CREATE TABLE public.sale (id int, region text); INSERT INTO public.sale VALUES (1, $$n$$), (2, $$n$$), (3, $$s$$)',
    );
    const pipelineId = await house.createPipeline(`
apiVersion: v1
name: pushed
source: { id: sales, type: postgres, connection: warehouse, table: public.sale }
transformations: { id: sums, type: aggregate, inputs: [sales], groupBy: [region], measures: { n: "count(*)" } }
target: { id: t, type: postgres, connection: warehouse, table: public.sums, mode: OVERWRITE }
`);
    expect(await finish(pipelineId)).toMatchObject({
      engine: 'JDBC',
      error: null,
      overallStatus: 'COMPLETED',
      rowsRead: null,
      rowsWritten: 2,
      taskStatuses: { sales: 'SUCCESS', sums: 'SUCCESS', t: 'SUCCESS' },
    });
    expect(await rows('SELECT region, n FROM public.sums ORDER BY 1')).toEqual([
      { region: 'n', n: '2' },
      { region: 's', n: '1' },
    ]);
  });
});

describe('runs and their logs', () => {
  it('are listed, the newest first, by pipeline and status; logs by task, level and place', async () => {
    const yaml = (sql: string) => `
apiVersion: v1
name: listed
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: b, type: sql, inputs: [a], sql: "${sql}" }
target: { id: t, type: file, path: listed.csv }
`;
    const pipelineId = await house.createPipeline(yaml('SELECT * FROM a'));
    const good = await finish(pipelineId);
    const bad = await finish(pipelineId, {
      yamlDefinition: yaml("SELECT error('no such luck') AS x FROM a"),
    });
    const list = (query: string) => house.engineer('GET', `/api/v1/runs?pipelineId=${pipelineId}${query}`);
    expect((await list('')).body).toEqual([bad, good]);
    expect((await list('&status=COMPLETED')).body).toEqual([good]);
    expect((await list('&limit=1')).body).toEqual([bad]);
    expect((await list('&limit=1001')).status).toBe(400);

    const logs = async (query: string) =>
      (await house.engineer('GET', `/api/v1/runs/${bad.runId}/logs${query}`)).body;
    const all = await logs('');
    expect(all.map(({ taskId, level }: { taskId: string; level: string }) => `${taskId} ${level}`)).toEqual([
      'a INFO',
      'b ERROR',
    ]);
    expect(all[1]).toEqual({
      seq: expect.any(Number),
      runId: bad.runId,
      taskId: 'b',
      attempt: 1,
      timestamp: expect.any(String),
      level: 'ERROR',
      message: expect.stringContaining('no such luck'),
    });
    expect(await logs('?level=WARN')).toEqual([all[1]]);
    expect(await logs('?taskId=a')).toEqual([all[0]]);
    expect(await logs(`?after=${all[0].seq}`)).toEqual([all[1]]);
    expect(await logs('?limit=1')).toEqual([all[0]]);
  });
});
