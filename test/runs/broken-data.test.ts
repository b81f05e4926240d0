import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openRunHouse, type RunHouse } from './run-house.js';

let house: RunHouse;
let files: string;

beforeAll(async () => {
  house = await openRunHouse();
  files = path.join(house.app.dataDir, 'files');
  await mkdir(files, { recursive: true });
});

afterAll(() => house.close());

async function run(pipelineId: string) {
  const runId = await house.start(pipelineId);
  await house.watch(runId, { after: 0 }).closed;
  const { body: log } = await house.engineer('GET', `/api/v1/runs/${runId}/logs?level=WARN`);
  return { ...(await house.engineer('GET', `/api/v1/runs/${runId}`)).body, log };
}

const rowsOf = async (table: string) =>
  (await house.warehouse.query(`SELECT * FROM public.${table} ORDER BY 1`)).rows;

const definition = (source: string, target: string, more = '') => `
apiVersion: v1
name: data
engine: BATCH
source: { id: s, ${source} }
${more}
target: { id: t, type: postgres, connection: warehouse, table: public.${target} }
`;

describe('rows that cannot be read as declared', () => {
  const source = (maxShare: number) =>
    `type: file, path: dirty.csv, columns: { id: INTEGER, amount: "DECIMAL(9,2)" }, quarantine: { maxShare: ${maxShare} }`;

  beforeAll(async () => {
    const lines = Array.from({ length: 100 }, (_, n) => (n % 25 === 7 ? `${n},a lot` : `${n},${n}.50`));
    await writeFile(path.join(files, 'dirty.csv'), `id,amount\n${lines.join('\n')}\n`);
    await house.warehouse.query(
      'CREATE TABLE public.clean AS SELECT 1000 AS id, 1.5::numeric(9,2) AS amount',
    );
  });

  it('fail the run when they are too many, and the target is as it was', async () => {
    const failed = await run(await house.createPipeline(definition(source(0.03), 'clean, mode: APPEND')));
    expect(failed).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/^s: 4 of 100 rows \(4 %\) cannot be read as declared, more than the 3 %/),
      healing: [],
    });
    expect(await rowsOf('clean')).toEqual([{ id: 1000, amount: '1.50' }]);
  });

  it('are set aside with their row numbers when they are few', async () => {
    const healed = await run(await house.createPipeline(definition(source(0.05), 'clean, mode: OVERWRITE')));
    expect(healed).toMatchObject({
      overallStatus: 'COMPLETED',
      rowsWritten: 96,
      healing: [{ taskId: 's', strategy: 'QUARANTINE', attempt: 1, outcome: 'SUCCESS' }],
    });
    expect(healed.log).toEqual([
      expect.objectContaining({
        level: 'WARN',
        taskId: 's',
        message: expect.stringContaining('4 of 100 rows'),
      }),
    ]);
    expect(await rowsOf('clean')).toHaveLength(96);
    const aside = await readFile(path.join(files, 'quarantine', healed.runId, 's.csv'), 'utf8');
    const rows = aside
      .trim()
      .split('\n')
      .map((line) => line.split(',').slice(0, 3));
    expect(rows).toEqual([
      ['file', 'row', 'column'],
      ...[8, 33, 58, 83].map((row) => ['dirty.csv', String(row), 'amount']),
    ]);
  });
});

describe('a source whose columns change', () => {
  const source = 'type: postgres, connection: warehouse, table: public.drifting';
  const named = 'transformations: { id: all, type: sql, inputs: [s], sql: "SELECT * FROM s" }';

  it('widens the target by a new column, and fails the run when one is gone or has another type', async () => {
    await house.warehouse.query(`
      CREATE TABLE public.drifting AS SELECT 1 AS id, 10 AS amount;
      CREATE TABLE public.followed (id int PRIMARY KEY, amount int)`);
    const target = 'followed, mode: UPSERT, keys: [id]';
    const pipelineId = await house.createPipeline(definition(source, target, named));
    const checked = await house.createPipeline(
      definition(source, target, named.replace('SELECT * FROM s', 'SELECT id, amount * 2 AS amount FROM s')),
    );
    expect((await run(pipelineId)).overallStatus).toBe('COMPLETED');

    await house.warehouse.query(
      "ALTER TABLE public.drifting ADD COLUMN note text; UPDATE public.drifting SET note = 'new'",
    );
    const widened = await run(pipelineId);
    expect(widened).toMatchObject({
      overallStatus: 'COMPLETED',
      healing: [
        {
          taskId: 't',
          strategy: 'WIDEN_TARGET',
          reason: expect.stringContaining('note'),
          outcome: 'SUCCESS',
        },
      ],
    });
    const kept = [{ id: 1, amount: 10, note: 'new' }];
    expect(await rowsOf('followed')).toEqual(kept);

    await house.warehouse.query("ALTER TABLE public.drifting ALTER COLUMN amount TYPE text USING 'ten'");
    expect(await run(pipelineId)).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/^t: .*column amount: "ten"/),
    });
    expect(await rowsOf('followed')).toEqual(kept);

    await house.warehouse.query('ALTER TABLE public.drifting DROP COLUMN amount');
    expect(await run(checked)).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/^all: .*Column "amount"/),
      healing: [],
    });
    await house.warehouse.query('ALTER TABLE public.drifting DROP COLUMN id');
    expect(await run(pipelineId)).toMatchObject({
      overallStatus: 'FAILED',
      error: 't: The input of public.followed has no column id to use as a key.',
    });
    expect(await rowsOf('followed')).toEqual(kept);
  });
});
