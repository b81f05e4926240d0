import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { GraphTask, SessionOptions, TaskHooks } from '../../../src/engines/engine.js';
import { TrinoOrDuckDbEngine } from '../../../src/engines/trino/trino-or-duckdb.js';
import { startTrinoServer, type TrinoServer } from '../../support/trino-server.js';
import { source, target, transform } from './graph-tasks.js';

// Against test/support/trino-server.ts, which speaks the documented protocol: no real Trino was at hand.

let trino: TrinoServer;
let engine: TrinoOrDuckDbEngine;

beforeEach(async () => {
  trino = await startTrinoServer();
  engine = engineOf();
  columns('orders', { id: 'integer', customer: 'integer', amount: 'decimal(10,2)' });
  columns('customers', { id: 'integer', name: 'varchar' });
  trino.answer(WRITE, { updateCount: 3 });
});
afterEach(async () => {
  await trino.close();
  expect(trino.breaches).toEqual([]);
});

const WRITE = /^(INSERT INTO|MERGE INTO) "pg"\."mart"/;

function engineOf(more: { url?: string; password?: string } = {}): TrinoOrDuckDbEngine {
  const catalogs = new Map([['*/shop', 'pg']]);
  return new TrinoOrDuckDbEngine({ url: trino.url, user: 'etl', catalogs, ...more });
}

function columns(id: string, types: Record<string, string>): void {
  trino.answer(new RegExp(`SELECT \\* FROM "${id}" LIMIT 0$`), {
    columns: Object.entries(types).map(([name, type]) => ({ name, type })),
  });
}

const copy = [source('orders'), target('orders')];

async function run(tasks: GraphTask[], hooks: Partial<TaskHooks> = {}, by = engine) {
  const units = by.plan(tasks);
  const [unit, ...others] = units;
  if (!unit || others.length > 0) throw new Error('the graph is not for Trino');
  const options: SessionOptions = {
    runId: 'run-1',
    runDirectory: '/nowhere',
    memoryLimitMb: 512,
    threads: 1,
    filesBase: '/nowhere',
    filesRoots: [],
    maskKey: '00'.repeat(32),
    tasks: units,
    resolveConnection: async () => ({ type: 'postgres', host: 'h', port: 1, database: 'd', user: 'u' }),
  };
  const session = await by.open(options);
  try {
    return await session.execute(unit, {
      signal: new AbortController().signal,
      log: () => undefined,
      ...hooks,
    });
  } finally {
    await session.close();
  }
}

const writes = () => trino.statements.filter(({ sql }) => WRITE.test(sql));
const notes = () =>
  trino.statements.flatMap(
    ({ sql }) => /^INSERT INTO "pg"\."opsgraph".*'(\w+)', BIGINT '(\d+)'\)$/.exec(sql)?.slice(1) ?? [],
  );

describe('a graph on Trino', () => {
  it('is one statement, noted before and after, under a source that names run and task', async () => {
    const progress = jest.fn();
    const outcome = await run(copy, { progress });
    expect(outcome).toEqual({
      rows: 3,
      output: 'mart.t',
      columns: [
        { name: 'id', type: 'integer' },
        { name: 'customer', type: 'integer' },
        { name: 'amount', type: 'decimal(10,2)' },
      ],
      within: { orders: { columns: outcome.columns } },
    });
    expect(writes()).toEqual([
      expect.objectContaining({
        sql: `INSERT INTO "pg"."mart"."t" ("id", "customer", "amount") WITH "orders" AS (\nSELECT * FROM "pg"."public"."orders"\n) SELECT "id", "customer", "amount" FROM "orders"`,
        user: 'etl',
        source: expect.stringMatching(/^opsgraph\/run-1\/out\/[0-9a-f-]{36}$/),
      }),
    ]);
    expect(notes()).toEqual(['BEGUN', '0', 'DONE', '3']);
    expect(progress).toHaveBeenCalledWith({ percent: 41, rows: 7 });
  });

  it.each<[string, object, string[], string]>([
    [
      'sql',
      { type: 'sql', sql: 'SELECT id, amount / 2 AS half FROM Orders' },
      ['orders'],
      'SELECT id, CAST(amount AS DOUBLE) / NULLIF(2, 0) AS half FROM "orders"',
    ],
    [
      'filter',
      { type: 'filter', where: "at::DATE > '2026-01-01' -- new" },
      ['orders'],
      `CAST("at" AS DATE) > '2026-01-01'`,
    ],
    [
      'rename',
      { type: 'rename', columns: { id: 'Number' }, keepOnlyNamed: true },
      ['orders'],
      'SELECT "id" AS "Number" FROM "orders"',
    ],
    [
      'cast',
      { type: 'cast', columns: { ID: 'VARCHAR', amount: 'DOUBLE' }, onError: 'NULL' },
      ['orders'],
      'SELECT TRY_CAST("id" AS VARCHAR) AS "id", "customer", TRY_CAST("amount" AS DOUBLE) AS "amount" FROM "orders"',
    ],
    [
      'deduplicate',
      { type: 'deduplicate', keys: ['customer'], orderBy: ['amount DESC'] },
      ['orders'],
      'ROW_NUMBER() OVER (PARTITION BY "customer" ORDER BY amount DESC) AS "opsgraph row"',
    ],
    [
      'aggregate',
      { type: 'aggregate', groupBy: ['customer'], measures: { total: 'sum(amount)' } },
      ['orders'],
      'SELECT "customer", (SUM(amount)) AS "total" FROM "orders" GROUP BY "customer"',
    ],
    [
      'left join',
      { type: 'join', how: 'LEFT', on: { customer: 'id' } },
      ['orders', 'customers'],
      'SELECT l."id" AS "id", l."customer" AS "customer", l."amount" AS "amount", r."id" AS "right_id", r."name" AS "name" FROM "orders" AS l LEFT JOIN "customers" AS r ON l."customer" = r."id"',
    ],
    [
      'anti join',
      { type: 'join', how: 'ANTI', on: { customer: 'id' } },
      ['orders', 'customers'],
      'WHERE NOT EXISTS (SELECT 1 FROM "customers" AS r WHERE l."customer" = r."id")',
    ],
  ])('says %s in its dialect', async (_, spec, inputs, expected) => {
    columns('made', { x: 'integer' });
    await run([...inputs.map((id) => source(id)), transform('made', spec, inputs), target('made')]);
    const [write] = writes();
    expect(write?.sql).toMatch(/"made" AS \(\n.*\n\) SELECT "x" FROM "made"$/);
    expect(write?.sql).toContain(expected);
  });

  it('merges by key, and deletes by a condition', async () => {
    const merge = { mode: 'MERGE', keys: ['id'], deleteWhen: 'amount < 0' };
    await run([source('orders', { query: 'SELECT id, amount FROM sales.orders' }), target('orders', merge)]);
    expect(writes()[0]?.sql.split('\n')).toEqual([
      'MERGE INTO "pg"."mart"."t" AS target USING (WITH "orders" AS (',
      'SELECT id, amount FROM "pg"."sales"."orders"',
      '), "opsgraph input" AS (',
      'SELECT "id", "customer", "amount", COALESCE((amount < 0), FALSE) AS "opsgraph delete" FROM "orders"',
      ')',
      'SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY "id") AS "opsgraph same key" FROM "opsgraph input")',
      `WHERE CASE WHEN "opsgraph same key" > 1 OR "id" IS NULL THEN CAST('MERGE into mart.t: a key (id) is null or there are several rows with it' AS boolean) ELSE true END) AS source ON target."id" = source."id"`,
      'WHEN MATCHED AND source."opsgraph delete" THEN DELETE',
      'WHEN MATCHED THEN UPDATE SET "customer" = source."customer", "amount" = source."amount"',
      'WHEN NOT MATCHED AND NOT source."opsgraph delete" THEN INSERT ("id", "customer", "amount") VALUES (source."id", source."customer", source."amount")',
    ]);
  });

  it('reads for a task only its inputs, and tells which task was wrong', async () => {
    const spy = transform('spy', { type: 'sql', sql: 'SELECT * FROM hr.public.payroll' }, ['orders']);
    await expect(run([source('orders'), spy, target('spy')])).rejects.toMatchObject({
      kind: 'SQL',
      taskId: 'spy',
      message: 'The SQL may not read "hr.public.payroll".',
    });
    expect(trino.statements.some(({ sql }) => sql.includes('payroll'))).toBe(false);
  });
});

describe('a write on Trino', () => {
  it('is done once', async () => {
    await run(copy);
    expect(await run(copy)).toMatchObject({ rows: 3, alreadyDone: true });
    expect(writes()).toHaveLength(1);
  });

  it('counts as done when Trino finished it and the note is missing', async () => {
    trino.answer(/'DONE'/, { error: { message: 'disk', errorName: 'JDBC_ERROR', errorType: 'EXTERNAL' } });
    expect(await run(copy)).toMatchObject({ rows: 3 });
    trino.answer(/'DONE'/, { updateCount: 1 });
    expect(await run(copy)).toMatchObject({ alreadyDone: true });
    expect(writes()).toHaveLength(1);
  });

  it('is told by DELETE to stop when it is cancelled, and may then be begun again', async () => {
    trino.answer(WRITE, { isEndless: true });
    const cancel = new AbortController();
    const writing = run(copy, { signal: cancel.signal });
    const query = await trino.running(WRITE);
    cancel.abort();
    await expect(writing).rejects.toMatchObject({ kind: 'CANCELLED' });
    expect(query.cancelled).toBe(true);
    expect(notes()).toEqual(['BEGUN', '0']);

    trino.answer(WRITE, { updateCount: 3 });
    expect(await run(copy)).toMatchObject({ rows: 3 });
    expect(notes()).toEqual(['BEGUN', '0', 'FAILED', '0', 'BEGUN', '0', 'DONE', '3']);
  });

  it('of a worker that is gone is killed before it is begun again', async () => {
    trino.answer(WRITE, { isEndless: true });
    const gone = new AbortController();
    const lost = expect(run(copy, { signal: gone.signal })).rejects.toMatchObject({ kind: 'CANCELLED' });
    const query = await trino.running(WRITE);
    trino.answer(WRITE, { updateCount: 3 });
    expect(await run(copy)).toMatchObject({ rows: 3 });
    expect(query.state).toBe('FAILED');
    await lost;
  });

  it('is refused when nobody can know whether it was done', async () => {
    trino.answer(/'DONE'/, { error: { message: 'disk', errorName: 'JDBC_ERROR', errorType: 'EXTERNAL' } });
    await run(copy);
    trino.forget();
    await expect(run(copy)).rejects.toMatchObject({
      kind: 'TARGET',
      transient: false,
      message: expect.stringContaining('no longer tells whether it wrote'),
    });
    expect(writes()).toHaveLength(1);
  });
});

describe('what goes wrong on Trino', () => {
  it.each([
    ['USER_ERROR', 'COLUMN_NOT_FOUND', { kind: 'SQL', transient: false }],
    ['INSUFFICIENT_RESOURCES', 'EXCEEDED_LOCAL_MEMORY_LIMIT', { kind: 'OUT_OF_MEMORY', transient: false }],
    ['INSUFFICIENT_RESOURCES', 'QUERY_QUEUE_FULL', { kind: 'CONNECTION', transient: true }],
    ['INSUFFICIENT_RESOURCES', 'EXCEEDED_TIME_LIMIT', { kind: 'TIMEOUT', transient: false }],
    ['EXTERNAL', 'JDBC_ERROR', { kind: 'CONNECTION', transient: true }],
    ['INTERNAL_ERROR', 'GENERIC_INTERNAL_ERROR', { kind: 'INTERNAL', transient: false }],
  ])('%s %s is told as what it is', async (errorType, errorName, expected) => {
    trino.answer(WRITE, { error: { message: 'so it is', errorName, errorType } });
    await expect(run(copy)).rejects.toMatchObject({ ...expected, message: `Trino: so it is (${errorName})` });
    expect(notes()).toEqual(['BEGUN', '0', 'FAILED', '0']);
  });

  it('waits for a coordinator that is busy', async () => {
    trino.fail(503, 2);
    expect(await run(copy)).toMatchObject({ rows: 3 });
    expect(writes()).toHaveLength(1);
  });

  it('goes on with the same statement past a gateway that fails in the middle of it', async () => {
    const written = run(copy);
    await trino.running(WRITE);
    trino.fail(502, 2);
    expect(await written).toMatchObject({ rows: 3 });
    expect(writes()).toHaveLength(1);
  });

  it('tells a server that is away, and one that refuses the user, without the password', async () => {
    const password = 'hunter2';
    trino.fail(401, 1);
    const refused = run(copy, {}, engineOf({ password }));
    await expect(refused).rejects.toMatchObject({ kind: 'CONNECTION', transient: false });
    await run(copy, {}, engineOf({ password }));
    expect(trino.statements[0]?.authorization).toBe(`Basic ${btoa('etl:hunter2')}`);
    const { url } = trino;
    await trino.close();
    const away = await run(copy, {}, engineOf({ url, password })).catch((error: unknown) => error);
    expect(away).toMatchObject({
      kind: 'CONNECTION',
      transient: true,
      message: expect.stringMatching(/^Trino cannot be reached: ECONN(REFUSED|RESET)\.$/),
    });
    expect(inspect(away, { depth: 9 })).not.toContain(password);
    trino = await startTrinoServer();
  });

  it('takes its credentials to no other address', async () => {
    trino.answer(WRITE, { updateCount: 3, nextOrigin: 'http://127.0.0.2:1' });
    await expect(run(copy)).rejects.toMatchObject({
      kind: 'CONNECTION',
      message: expect.stringContaining('an address other than TRINO_URL'),
    });
  });
});
