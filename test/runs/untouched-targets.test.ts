import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openRunHouse, type RunHouse } from './run-house.js';

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse();
});

afterAll(() => house.close());

/** `good` has its rows before `late` is tried, which fails until its gate is open. */
const computed = (late: string) => (name: string) =>
  `
engine: BATCH
source:
  - { id: a, type: postgres, connection: warehouse, table: public.${name}_source }
  - { id: b, type: postgres, connection: warehouse, table: public.${name}_gate }
transformations:
  - { id: good, type: sql, inputs: [a], sql: "SELECT x FROM a" }
  - { id: late, type: sql, inputs: [b], dependsOn: [good], ${late}
`;

const branches: Record<string, (name: string) => string> = {
  'a transformation': computed(
    `sql: "SELECT CASE WHEN count(*) = 0 THEN error('closed') ELSE 1 END AS x FROM b" }`,
  ),
  'a check of severity ERROR': computed(
    'sql: "SELECT x FROM b" }\nquality: { on: late, type: rowCount, min: 1 }',
  ),
  'a source that could be copied straight into its target': (name) => `
engine: BATCH
source:
  - { id: good, type: postgres, connection: warehouse, table: public.${name}_source }
  - { id: late, type: postgres, connection: warehouse, dependsOn: [good], query: "SELECT 1 / count(*) AS x FROM ${name}_gate" }
`,
};

const targets = {
  postgres: (name: string) => `
target:
  - { id: t, input: good, type: postgres, connection: warehouse, table: public.${name}_t, mode: APPEND }
  - { id: u, input: late, type: postgres, connection: warehouse, table: public.${name}_u, mode: APPEND }
`,
  file: (name: string) => `
target:
  - { id: t, input: good, type: file, path: ${name}/t.csv, mode: OVERWRITE }
  - { id: u, input: late, type: file, path: ${name}/u, format: csv, mode: APPEND }
`,
};
const ended = async (runId: string) => {
  await house.watch(runId, { after: 0 }).closed;
  return (await house.engineer('GET', `/api/v1/runs/${runId}`)).body;
};
const valuesIn = async (table: string) =>
  (await house.warehouse.query(`SELECT x FROM public.${table} ORDER BY x`)).rows.map(({ x }) => Number(x));
/** What the run that failed had computed is gone as well: only then is the gate looked at again. */
async function retryBehindOpenGate(name: string, runId: string) {
  await house.warehouse.query(`INSERT INTO public.${name}_gate VALUES (1)`);
  await rm(path.join(house.app.dataDir, 'runs', runId), { recursive: true });
  return ended((await house.engineer('POST', `/api/v1/runs/${runId}/retry`)).body.runId);
}

const FAILED = {
  overallStatus: 'FAILED',
  taskStatuses: { good: 'SUCCESS', late: 'FAILED', t: 'SKIPPED', u: 'UPSTREAM_FAILED' },
  rowsWritten: 0,
};
let number = 0;

describe.each(Object.entries(branches))('beside a branch in which %s fails', (_, branch) => {
  let name: string;
  const run = async (rest: string) =>
    house.start(await house.createPipeline(`apiVersion: v1\nname: ${name}\n${rest}`, { maxRetries: 0 }));

  beforeEach(async () => {
    number += 1;
    name = `apart_${number}`;
    await house.warehouse.query(
      `CREATE TABLE public.${name}_source AS SELECT generate_series(1, 3) AS x; CREATE TABLE public.${name}_gate (x int);
       CREATE TABLE public.${name}_t AS SELECT 42 AS x; CREATE TABLE public.${name}_u AS SELECT 42 AS x`,
    );
  });

  it("another branch's table stays as it was, and a retry writes both", async () => {
    const runId = await run(branch(name) + targets.postgres(name));
    expect(await ended(runId)).toMatchObject(FAILED);
    expect([await valuesIn(`${name}_t`), await valuesIn(`${name}_u`)]).toEqual([[42], [42]]);
    const retried = await retryBehindOpenGate(name, runId);
    expect(retried).toMatchObject({ overallStatus: 'COMPLETED', rowsWritten: 4 });
    expect([await valuesIn(`${name}_t`), await valuesIn(`${name}_u`)]).toEqual([
      [1, 2, 3, 42],
      [1, 42],
    ]);
  });

  it("another branch's file stays as it was, and a retry writes both", async () => {
    const files = path.join(house.app.dataDir, 'files', name);
    await ended(
      await run(`source: { id: s, type: inline, rows: [{ x: 42 }] }
target: { id: t, type: file, path: ${name}/t.csv, mode: OVERWRITE }`),
    );
    const runId = await run(branch(name) + targets.file(name));
    expect(await ended(runId)).toMatchObject(FAILED);
    expect(await readdir(files)).toEqual(['t.csv']);
    expect(await readFile(path.join(files, 't.csv'), 'utf8')).toBe('x\n42\n');
    const retried = await retryBehindOpenGate(name, runId);
    expect(retried).toMatchObject({ overallStatus: 'COMPLETED', rowsWritten: 4 });
    expect(await readFile(path.join(files, 't.csv'), 'utf8')).toBe('x\n1\n2\n3\n');
    expect(await readdir(path.join(files, 'u'))).toHaveLength(1);
  });
});
