import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { planUnits } from '../../../../src/engines/batch/plan-units.js';
import type { GraphTask } from '../../../../src/engines/engine.js';
import { type EngineFixture, execute, openEngine, readParquet, sql } from '../engine-fixture.js';

let engine: EngineFixture;
beforeAll(async () => {
  engine = await openEngine();
  await writeFile(
    join(engine.files, 'sales.csv'),
    'id,mail,amount,country\n1,a@x,10,PL\n1,a@x,12,PL\n2,b@x,5,DE\n3,c@x,oops,PL\n',
  );
});
afterAll(() => engine.close());

const CHAIN: GraphTask[] = (
  [
    ['sales', [], { kind: 'source', type: 'file', path: 'sales.csv', format: 'csv' }],
    [
      'typed',
      ['sales'],
      { kind: 'transformation', type: 'cast', columns: { amount: 'INTEGER' }, onError: 'NULL' },
    ],
    ['paid', ['typed'], { kind: 'transformation', type: 'filter', where: 'amount > 0' }],
    [
      'once',
      ['paid'],
      { kind: 'transformation', type: 'deduplicate', keys: ['id'], orderBy: ['amount DESC'] },
    ],
    ['hidden', ['once'], { kind: 'transformation', type: 'mask', columns: { mail: { method: 'HASH' } } }],
    ['named', ['hidden'], { kind: 'transformation', type: 'rename', columns: { mail: 'person' } }],
    [
      'sums',
      ['named'],
      {
        kind: 'transformation',
        type: 'aggregate',
        groupBy: ['country', 'person'],
        measures: { total: 'sum(amount)' },
      },
    ],
    ['sorted', ['sums'], sql('FROM sums ORDER BY country')],
  ] as const
).map(([id, inputs, spec]) => ({ id, inputs, spec, dependsOn: inputs }) as GraphTask);

it('a chain of every kind gives as one statement what it gives step by step', async () => {
  const person = (mail: string) => createHmac('sha256', Buffer.alloc(20, 0x0b)).update(mail).digest('hex');
  const expected = [
    { country: 'DE', person: person('b@x'), total: '5' },
    { country: 'PL', person: person('a@x'), total: '12' },
  ];
  for (const { id, inputs, spec } of CHAIN) await engine.run(id, spec, [...inputs]);
  expect(await readParquet(join(engine.options.runDirectory, 'sorted.parquet'))).toEqual(expected);

  const units = planUnits(CHAIN);
  expect(units).toHaveLength(1);
  const runDirectory = join(engine.directory, 'fused');
  const session = await engine.open({ runDirectory, tasks: units });
  for (const unit of units) await execute(session, unit);
  expect(await readParquet(join(runDirectory, 'sorted.parquet'))).toEqual(expected);
});

it('an error says which step of the chain it is about', async () => {
  const [sales, typed, paid, once] = CHAIN as [GraphTask, GraphTask, GraphTask, GraphTask];
  const broken = { ...paid, spec: { ...paid.spec, where: 'nosuch > 0' } as GraphTask['spec'] };
  const [unit] = planUnits([sales, typed, broken, once]);
  const runDirectory = join(engine.directory, 'broken');
  const session = await engine.open({ runDirectory, tasks: unit ? [unit] : [] });
  await expect(execute(session, unit as GraphTask)).rejects.toMatchObject({
    kind: 'SQL',
    taskId: 'paid',
    message: expect.stringMatching(/^where: There is no column "nosuch" in typed/),
  });
});
