import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TransformationSpec } from '../../../src/engines/task-spec.js';
import { type EngineFixture, inline, openEngine, readParquet, sql } from './engine-fixture.js';

const KEY = '0b'.repeat(32);
let engine: EngineFixture;
let task = 0;

beforeAll(async () => {
  engine = await openEngine({ maskKey: KEY });
  await engine.run(
    'orders',
    inline([
      { id: 1, customer: 'a', Amount: 10.5, 'order date': '2026-01-02', email: 'ada@example.com' },
      { id: 2, customer: 'b', Amount: 4, 'order date': '2026-01-01', email: 'ż@x.pl' },
      { id: 3, customer: 'a', Amount: null, 'order date': null, email: null },
    ]),
  );
  await engine.run(
    'customers',
    inline([
      { id: 'a', name: 'Ada' },
      { id: 'c', name: 'Cy' },
    ]),
  );
  await engine.run(
    'rates',
    inline([
      { customer: 'a', rate: 2 },
      { customer: 'z', rate: 3 },
    ]),
  );
  await engine.run('empty', sql('SELECT * FROM orders WHERE false'), ['orders']);
});
afterAll(() => engine.close());

type Spec = TransformationSpec extends infer S ? (S extends unknown ? Omit<S, 'kind'> : never) : never;

async function transform(spec: Spec, inputs = ['orders']): Promise<{ rows: unknown[]; types: string[] }> {
  const id = `t${++task}`;
  const outcome = await engine.run(id, { kind: 'transformation', ...spec } as TransformationSpec, inputs);
  const rows = await readParquet(join(engine.options.runDirectory, `${id}.parquet`));
  expect(outcome).toMatchObject({ rows: rows.length, bytes: expect.any(Number) });
  return { rows, types: (outcome.columns ?? []).map(({ name, type }) => `${name} ${type}`) };
}

const ids = (rows: unknown[]) => rows.map((row) => Number((row as { id: unknown }).id));

describe('filter', () => {
  it('keeps the rows for which it is true, not those for which nobody knows', async () => {
    expect(ids((await transform({ type: 'filter', where: 'Amount > 4 -- and not less' })).rows)).toEqual([1]);
    expect(ids((await transform({ type: 'filter', where: '"order date" IS NULL OR id = 2' })).rows)).toEqual([
      2, 3,
    ]);
  });

  it.each([
    ['a second clause', 'true ORDER BY 1', /where must be one expression/],
    ['what would close the parenthesis', 'true) UNION ALL (SELECT * FROM orders', /syntax error/],
    ['a subquery', 'id IN (SELECT 1)', /cannot hold a subquery/],
    ['a second expression', 'true, false', /one expression/],
    ['a look outside', "getvariable('x') = 1", /getvariable is not available/],
    ['an unknown column', 'amuont > 1', /amuont/],
  ])('refuses %s', async (_, where, message) => {
    await expect(transform({ type: 'filter', where })).rejects.toMatchObject({
      kind: 'SQL',
      message: expect.stringMatching(message),
    });
  });
});

describe('rename', () => {
  it('gives new names, in place, or only to what it keeps', async () => {
    const columns = { amount: 'sum', 'order date': 'from' };
    expect((await transform({ type: 'rename', columns })).types).toEqual([
      'id BIGINT',
      'customer VARCHAR',
      'sum DOUBLE',
      'from DATE',
      'email VARCHAR',
    ]);
    expect((await transform({ type: 'rename', columns, keepOnlyNamed: true })).types).toEqual([
      'sum DOUBLE',
      'from DATE',
    ]);
  });

  it('names a column that is not there, or would be there twice', async () => {
    await expect(transform({ type: 'rename', columns: { nope: 'x' } })).rejects.toThrow(
      /no column "nope" \(columns: id, customer/,
    );
    await expect(transform({ type: 'rename', columns: { id: 'EMAIL' } })).rejects.toThrow(
      /Two columns of the result would be named "email"/i,
    );
  });
});

describe('cast', () => {
  it('changes types, in place, and makes null of what does not cast when told so', async () => {
    const { types, rows } = await transform({
      type: 'cast',
      columns: { id: 'VARCHAR', Amount: 'DECIMAL(10,1)' },
    });
    expect(types.slice(0, 3)).toEqual(['id VARCHAR', 'customer VARCHAR', 'Amount DECIMAL(10,1)']);
    expect(rows[0]).toMatchObject({ id: '1', Amount: '10.5' });
    const nulls = await transform({ type: 'cast', columns: { customer: 'INTEGER' }, onError: 'NULL' });
    expect(nulls.rows.map((row) => (row as { customer: unknown }).customer)).toEqual([null, null, null]);
  });

  it('fails at what does not cast otherwise', async () => {
    await expect(transform({ type: 'cast', columns: { customer: 'INTEGER' } })).rejects.toMatchObject({
      kind: 'SQL',
      transient: false,
      message: expect.stringMatching(/Could not convert string 'a' to INT32/),
    });
  });
});

describe('deduplicate', () => {
  it('keeps the first by the order, else the first that was read; nulls are one key', async () => {
    expect(
      ids(
        (await transform({ type: 'deduplicate', keys: ['customer'], orderBy: ['Amount DESC NULLS FIRST'] }))
          .rows,
      ).sort(),
    ).toEqual([2, 3]);
    expect(ids((await transform({ type: 'deduplicate', keys: ['customer'] })).rows).sort()).toEqual([1, 2]);
    const { types } = await transform({ type: 'deduplicate', keys: ['order date', 'email'] });
    expect(types).toEqual([
      'id BIGINT',
      'customer VARCHAR',
      'Amount DOUBLE',
      'order date DATE',
      'email VARCHAR',
    ]);
  });

  it('refuses an order that is more than one term', async () => {
    await expect(transform({ type: 'deduplicate', keys: ['id'], orderBy: ['id LIMIT 1'] })).rejects.toThrow(
      /orderBy\[0\] must be one expression/,
    );
  });
});

describe('aggregate', () => {
  it('makes a row of each group, or one of all', async () => {
    const grouped = await transform({
      type: 'aggregate',
      groupBy: ['Customer'],
      measures: { total: 'sum(Amount)', n: 'count(*)', ids: 'sum(id)' },
    });
    expect(grouped.types).toEqual(['customer VARCHAR', 'total DOUBLE', 'n BIGINT', 'ids DECIMAL(38,0)']);
    expect(grouped.rows).toEqual(
      expect.arrayContaining([
        { customer: 'a', total: 10.5, n: '2', ids: '4' },
        { customer: 'b', total: 4, n: '1', ids: '2' },
      ]),
    );
    expect(
      (await transform({ type: 'aggregate', measures: { n: 'count(*)', top: 'max(Amount)' } }, ['empty']))
        .rows,
    ).toEqual([{ n: '0', top: null }]);
  });

  it('refuses a column that is neither grouped nor aggregated', async () => {
    await expect(
      transform({ type: 'aggregate', groupBy: ['customer'], measures: { x: 'id' } }),
    ).rejects.toThrow(/must appear in the GROUP BY/);
  });
});

describe('join', () => {
  it.each<['INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'SEMI' | 'ANTI' | undefined, number[], string[]]>([
    [undefined, [1, 3], ['rate']],
    ['INNER', [1, 3], ['rate']],
    ['LEFT', [1, 2, 3], ['rate']],
    ['RIGHT', [0, 1, 3], ['rate']],
    ['FULL', [0, 1, 2, 3], ['rate']],
    ['SEMI', [1, 3], []],
    ['ANTI', [2], []],
  ])('%s on a column of both', async (how, expected, more) => {
    const { rows, types } = await transform({ type: 'join', ...(how && { how }), on: ['customer'] }, [
      'orders',
      'rates',
    ]);
    expect(ids(rows).sort()).toEqual(expected);
    expect(types.map((each) => each.split(' ').slice(0, -1).join(' '))).toEqual([
      'id',
      'customer',
      'Amount',
      'order date',
      'email',
      ...more,
    ]);
    if (how === 'FULL' || how === 'RIGHT')
      expect(rows).toContainEqual(expect.objectContaining({ id: null, customer: 'z', rate: '3' }));
  });

  it('on columns of two names keeps both, the right one under a prefix where the left has it', async () => {
    const { types } = await transform(
      { type: 'join', how: 'LEFT', on: { customer: 'id' }, rightPrefix: 'c_' },
      ['orders', 'customers'],
    );
    expect(types.slice(-2)).toEqual(['c_id VARCHAR', 'name VARCHAR']);
    expect((await transform({ type: 'join', how: 'CROSS' }, ['orders', 'rates'])).rows).toHaveLength(6);
  });

  it('refuses one input, and a column that one side has not', async () => {
    await expect(transform({ type: 'join', on: ['id'] }, ['orders'])).rejects.toThrow(
      /takes 2 inputs, not 1/,
    );
    await expect(transform({ type: 'join', on: ['name'] }, ['orders', 'customers'])).rejects.toThrow(
      /"orders" has no column "name"/,
    );
  });
});

describe('mask', () => {
  it('hides each value by its method, and lets nulls be', async () => {
    const { rows, types } = await transform({
      type: 'mask',
      columns: {
        Amount: { method: 'NULL' },
        customer: { method: 'REDACT', with: "it's hidden" },
        email: { method: 'PARTIAL', keep: 3 },
        id: { method: 'HASH' },
      },
    });
    const hash = (value: string) => createHmac('sha256', Buffer.from(KEY, 'hex')).update(value).digest('hex');
    expect(types).toEqual([
      'id VARCHAR',
      'customer VARCHAR',
      'Amount DOUBLE',
      'order date DATE',
      'email VARCHAR',
    ]);
    expect(rows).toEqual([
      {
        id: hash('1'),
        customer: "it's hidden",
        Amount: null,
        'order date': '2026-01-02',
        email: '************com',
      },
      { id: hash('2'), customer: "it's hidden", Amount: null, 'order date': '2026-01-01', email: '***.pl' },
      { id: hash('3'), customer: "it's hidden", Amount: null, 'order date': null, email: null },
    ]);
  });

  it('shows nothing of a value that is no longer than what would be kept', async () => {
    expect(
      (await transform({ type: 'mask', columns: { customer: { method: 'PARTIAL' } } })).rows[0],
    ).toMatchObject({ customer: '*' });
  });

  it('hashes text beyond ASCII, and longer than a block, as node does', async () => {
    const long = 'zażółć '.repeat(30);
    await engine.run('texts', inline([{ a: long }, { a: '' }]));
    const { rows } = await transform({ type: 'mask', columns: { a: { method: 'HASH' } } }, ['texts']);
    expect(rows).toEqual(
      [long, ''].map((text) => ({
        a: createHmac('sha256', Buffer.from(KEY, 'hex')).update(text).digest('hex'),
      })),
    );
  });
});

it('every kind gives no rows of an empty input, and the same columns', async () => {
  const kinds: Spec[] = [
    { type: 'filter', where: 'id > 0' },
    { type: 'rename', columns: { id: 'no' } },
    { type: 'cast', columns: { id: 'VARCHAR' } },
    { type: 'deduplicate', keys: ['id'] },
    { type: 'aggregate', groupBy: ['id'], measures: { n: 'count(*)' } },
    { type: 'mask', columns: { email: { method: 'HASH' } } },
  ];
  for (const spec of kinds) {
    const { rows, types } = await transform(spec, ['empty']);
    expect(rows).toEqual([]);
    expect(types.length).toBeGreaterThan(1);
  }
});
