import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BatchEngine } from '../../../src/engines/batch/batch-engine.js';
import type { EngineTask, GraphTask, TaskOutcome } from '../../../src/engines/engine.js';
import type { FileSourceSpec, TaskSpec } from '../../../src/engines/task-spec.js';
import { type EngineFixture, execute, openEngine, readParquet, sql } from './engine-fixture.js';

let engine: EngineFixture;
beforeEach(async () => {
  engine = await openEngine();
  await writeFile(join(engine.files, 'orders.csv'), 'id,amount,country\n1,10,PL\n2,20,DE\n3,30,PL\n');
  await writeFile(
    join(engine.files, 'names.ndjson'),
    '{"country":"PL","name":"Polska"}\n{"country":"DE","name":"Deutschland"}\n',
  );
});
afterEach(() => engine.close());

const task = (id: string, spec: TaskSpec, inputs: string[] = []): GraphTask => ({
  id,
  spec,
  inputs,
  dependsOn: inputs,
});
const file = (
  id: string,
  path: string,
  format: FileSourceSpec['format'] = 'csv',
  more: Partial<FileSourceSpec> = {},
) => task(id, { kind: 'source', type: 'file', path, format, ...more });

/** JSON is read as part of another task only where its columns are known. */
const NAMES: Partial<FileSourceSpec> = { columns: { country: 'VARCHAR', name: 'VARCHAR' } };

/** Plans, runs every unit in a session that knows the plan, and returns the last outcome. */
async function runAll(tasks: GraphTask[]): Promise<TaskOutcome> {
  const units = new BatchEngine().plan(tasks);
  const session = await engine.open({ tasks: units });
  let last: TaskOutcome = { rows: -1 };
  for (const unit of units) last = await execute(session, unit);
  return last;
}

const result = (id: string) => readParquet(join(engine.options.runDirectory, `${id}.parquet`));

describe('tasks carried out as one', () => {
  it('give the rows they would have given one by one, and tell what is known of each', async () => {
    const outcome = await runAll([
      file('orders', 'orders.csv'),
      file('names', 'names.ndjson', 'ndjson', NAMES),
      task('big', sql('SELECT * FROM orders WHERE amount > 5'), ['orders']),
      task(
        'named',
        sql(
          'SELECT name, sum(amount) AS total FROM big JOIN names USING (country) GROUP BY name ORDER BY name',
        ),
        ['big', 'names'],
      ),
    ]);
    expect(await result('named')).toEqual([
      { name: 'Deutschland', total: '20' },
      { name: 'Polska', total: '40' },
    ]);
    expect(outcome).toMatchObject({
      rows: 2,
      columns: [
        { name: 'name', type: 'VARCHAR' },
        { name: 'total', type: 'DECIMAL(38,0)' },
      ],
      within: {
        orders: {
          rows: 3,
          columns: [
            { name: 'id', type: 'BIGINT' },
            { name: 'amount', type: 'BIGINT' },
            { name: 'country', type: 'VARCHAR' },
          ],
        },
        names: { rows: 2 },
        big: { columns: expect.any(Array) },
      },
    });
    expect(outcome.within?.['big']).not.toHaveProperty('rows');
    await expect(result('big')).rejects.toThrow(/No files found/);
  });

  it('compute what is read twice once', async () => {
    await runAll([
      file('orders', 'orders.csv'),
      task('lottery', sql('SELECT random() AS drawn FROM orders'), ['orders']),
      task('both', sql('SELECT count(*)::INT AS n FROM lottery a JOIN Lottery b USING (drawn)'), ['lottery']),
    ]);
    expect(await result('both')).toEqual([{ n: 3 }]);
  });

  it.each<[string, string, GraphTask[]]>([
    [
      'the source whose file is missing',
      'orders',
      [file('orders', 'none.csv'), task('last', sql('FROM orders'), ['orders'])],
    ],
    [
      'the source whose file holds what it should not',
      'orders',
      [
        file('orders', 'orders.csv', 'csv', { columns: { country: 'INTEGER' } }),
        task('last', sql('SELECT country FROM orders'), ['orders']),
      ],
    ],
    [
      'the step whose SQL names no column',
      'mid',
      [
        file('orders', 'orders.csv'),
        task('mid', sql('SELECT nothing FROM orders'), ['orders']),
        task('last', sql('FROM mid'), ['mid']),
      ],
    ],
    [
      'the step that reads what it may not',
      'mid',
      [
        file('orders', 'orders.csv'),
        task('mid', sql("FROM read_csv('/etc/passwd')"), ['orders']),
        task('last', sql('FROM mid'), ['mid']),
      ],
    ],
  ])('blame %s', async (_, taskId, tasks) => {
    await expect(runAll(tasks)).rejects.toMatchObject({ name: 'EngineError', taskId, transient: false });
  });

  it('cannot reach another task’s view, nor a file that no source within names', async () => {
    await writeFile(join(engine.files, 'secret.csv'), 'a\n1\n');
    const secret = join(engine.files, 'secret.csv');
    const graph = (text: string): GraphTask[] => [
      file('orders', 'orders.csv'),
      file('names', 'names.ndjson', 'ndjson', NAMES),
      task('mid', sql('FROM orders'), ['orders']),
      task('last', sql(text), ['mid', 'names']),
    ];
    await expect(runAll(graph('FROM orders'))).rejects.toMatchObject({ kind: 'SQL' });
    await expect(runAll(graph(`FROM '${secret}'`))).rejects.toMatchObject({ kind: 'SQL' });
  });

  it('read a file that came after the session by way of a copy', async () => {
    const tasks = [
      file('orders', 'late.csv'),
      task('last', sql('SELECT count(*)::INT AS n FROM orders'), ['orders']),
    ];
    const units = new BatchEngine().plan(tasks);
    const session = await engine.open({ tasks: units });
    await symlink(join(engine.files, 'orders.csv'), join(engine.files, 'late.csv'));
    const outcome = await execute(session, units[0] as EngineTask);
    expect(outcome.within).toEqual({ orders: { rows: 3, columns: expect.any(Array) } });
    expect(await result('last')).toEqual([{ n: 3 }]);
  });
});
