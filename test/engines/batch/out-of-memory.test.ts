import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type EngineFixture, openEngine, query, sql } from './engine-fixture.js';

/** 80 MB of memory, of which the sandbox has 60: too little for four threads with wide row groups each. */
const WIDE = sql("SELECT range AS a, repeat('x', 400) || range AS s FROM range(400000)");

let engine: EngineFixture;
beforeAll(async () => {
  engine = await openEngine({ memoryLimitMb: 80, threads: 4 });
});
afterAll(() => engine.close());

it('a task that ran out of memory succeeds with fewer threads and smaller batches', async () => {
  const task = { id: 'wide', inputs: [], spec: WIDE };
  await expect(engine.execute(task)).rejects.toMatchObject({ kind: 'OUT_OF_MEMORY' });
  expect(await engine.execute(task, { outOfMemory: 2 })).toMatchObject({ rows: 400_000 });
  const file = join(engine.options.runDirectory, 'wide.parquet');
  const groups = await query(
    `SELECT DISTINCT row_group_num_rows AS n FROM parquet_metadata('${file}') ORDER BY n DESC LIMIT 1`,
  );
  expect(groups).toEqual([{ n: '30720' }]);
});

it('a step that holds more than its memory spills and succeeds', async () => {
  await engine.execute(
    { id: 'many', inputs: [], spec: sql('SELECT range AS k, md5(range::VARCHAR) AS h FROM range(1500000)') },
    { outOfMemory: 2 },
  );
  const outcome = await engine.execute(
    {
      id: 'once',
      inputs: ['many'],
      spec: { kind: 'transformation', type: 'deduplicate', keys: ['h'], orderBy: ['k DESC'] },
      checks: [{ type: 'unique', columns: ['k'], severity: 'ERROR', index: 0 }],
    },
    { outOfMemory: 2 },
  );
  expect(outcome).toMatchObject({ rows: 1_500_000, checks: [{ passed: true }] });
});
