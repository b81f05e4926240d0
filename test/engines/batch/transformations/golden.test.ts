import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TransformationSpec } from '../../../../src/engines/task-spec.js';
import { type EngineFixture, inline, openEngine, readParquet, sql } from '../engine-fixture.js';

const MASK_KEY = '0b'.repeat(20);
let engine: EngineFixture;
let number = 0;

type Spec = { [S in TransformationSpec as S['type']]: Omit<S, 'kind'> }[TransformationSpec['type']];

beforeAll(async () => {
  engine = await openEngine({ maskKey: MASK_KEY });
  await engine.run(
    'orders',
    inline(
      [
        { id: 1, 'Unit Price': '10.50', select: 'EUR', 'a"b': 'x' },
        { id: 2, 'Unit Price': '3.00', select: 'PLN', 'a"b': null },
        { id: 1, 'Unit Price': '7.25', select: 'EUR', 'a"b': 'y' },
        { id: null, 'Unit Price': null, select: null, 'a"b': null },
        { id: null, 'Unit Price': '1.00', select: null, 'a"b': 'z' },
      ],
      { id: 'BIGINT', 'Unit Price': 'DECIMAL(10,2)', select: 'VARCHAR', 'a"b': 'VARCHAR' },
    ),
  );
  await engine.run('none', sql('FROM orders LIMIT 0'), ['orders']);
  await engine.run(
    'rates',
    inline([
      { currency: 'EUR', id: 1, rate: 4 },
      { currency: 'USD', id: 9, rate: 3 },
      { currency: null, id: null, rate: 0 },
    ]),
  );
  await engine.run('texts', inline([{ n: '1' }, { n: 'x' }, { n: null }, { n: '3.7' }]));
  await engine.run(
    'people',
    inline(
      [
        { mail: 'ann@example.com', phone: 48123456789, born: '2001-02-03' },
        { mail: 'żó', phone: 7, born: null },
        { mail: null, phone: null, born: null },
      ],
      { mail: 'VARCHAR', phone: 'BIGINT', born: 'DATE' },
    ),
  );
});
afterAll(() => engine.close());

async function transform(spec: Spec, ...inputs: string[]) {
  const id = `t${++number}`;
  const outcome = await engine.run(id, { kind: 'transformation', ...spec } as TransformationSpec, inputs);
  const rows = await readParquet(join(engine.options.runDirectory, `${id}.parquet`));
  expect(outcome.rows).toBe(rows.length);
  return {
    rows,
    types: Object.fromEntries((outcome.columns ?? []).map(({ name, type }) => [name, type])),
    outcome,
  };
}

const ORDER_TYPES = { id: 'BIGINT', 'Unit Price': 'DECIMAL(10,2)', select: 'VARCHAR', 'a"b': 'VARCHAR' };

const FIRST = { id: '1', 'Unit Price': '10.50', select: 'EUR', 'a"b': 'x' };
const SECOND = { id: '2', 'Unit Price': '3.00', select: 'PLN', 'a"b': null };
const THIRD = { id: '1', 'Unit Price': '7.25', select: 'EUR', 'a"b': 'y' };
const EMPTY = { id: null, 'Unit Price': null, select: null, 'a"b': null };
const LAST = { id: null, 'Unit Price': '1.00', select: null, 'a"b': 'z' };

describe('what each kind makes of the same rows', () => {
  it('filter keeps what is true, not what is null', async () => {
    const { rows, types } = await transform({ type: 'filter', where: '"Unit Price" > 3 -- zł' }, 'orders');
    expect(rows).toEqual([FIRST, THIRD]);
    expect(types).toEqual(ORDER_TYPES);
  });

  it('filter knows the input by name, lambdas and today', async () => {
    const where =
      "list_contains(list_transform([1], lambda x: x + 1), orders.id) AND current_date > DATE '2020-01-01'";
    expect((await transform({ type: 'filter', where }, 'orders')).rows).toEqual([SECOND]);
  });

  it('rename swaps names in place, or keeps only the named', async () => {
    const { rows } = await transform({ type: 'rename', columns: { ID: 'select', select: 'id' } }, 'orders');
    expect(rows[0]).toEqual({ select: '1', 'Unit Price': '10.50', id: 'EUR', 'a"b': 'x' });
    const named = await transform(
      { type: 'rename', columns: { 'a"b': 'group', id: 'a"b' }, keepOnlyNamed: true },
      'orders',
    );
    expect(named.types).toEqual({ group: 'VARCHAR', 'a"b': 'BIGINT' });
    expect(named.rows[1]).toEqual({ group: null, 'a"b': '2' });
  });

  it('cast gives types, or nulls where told so', async () => {
    const cast = await transform(
      { type: 'cast', columns: { id: 'VARCHAR', 'unit price': 'DOUBLE' } },
      'orders',
    );
    expect(cast.rows[0]).toEqual({ ...FIRST, 'Unit Price': 10.5 });
    expect(cast.types).toEqual({ ...ORDER_TYPES, id: 'VARCHAR', 'Unit Price': 'DOUBLE' });
    const nulls = await transform({ type: 'cast', columns: { n: 'INTEGER' }, onError: 'NULL' }, 'texts');
    expect(nulls.rows).toEqual([{ n: 1 }, { n: null }, { n: null }, { n: 4 }]);
  });

  it('cast sets rows aside up to the share it may', async () => {
    const spec: Spec = {
      type: 'cast',
      columns: { n: 'INTEGER' },
      onError: 'QUARANTINE',
      quarantine: { maxShare: 0.25 },
    };
    const { rows, outcome } = await transform(spec, 'texts');
    expect(rows).toEqual([{ n: 1 }, { n: null }, { n: 4 }]);
    expect(outcome.healing).toEqual([
      { strategy: 'QUARANTINE', reason: expect.stringMatching(/^1 of 4 rows .*\bn\b/) },
    ]);
    const file = join(engine.files, 'quarantine', 'run-1', `t${number}.csv`);
    expect(await readFile(file, 'utf8')).toBe(
      'file,row,column,reason,raw\n,2,n,a value does not cast from VARCHAR to INTEGER,"{""n"":""x""}"\n',
    );
    await expect(
      transform({ ...spec, quarantine: { maxShare: 0.2 } } as Spec, 'texts'),
    ).rejects.toMatchObject({
      kind: 'SQL',
      message: expect.stringMatching(/1 of 4 rows \(25 %\)/),
    });
  });

  it('deduplicate keeps the first that was read, in the order read', async () => {
    const { rows, types } = await transform({ type: 'deduplicate', keys: ['id', 'SELECT'] }, 'orders');
    expect(rows).toEqual([FIRST, SECOND, EMPTY]);
    expect(types).toEqual(ORDER_TYPES);
  });

  it('deduplicate keeps the first by its terms', async () => {
    const orderBy = ['"Unit Price" ASC NULLS LAST', 'orders.id DESC -- last'];
    expect((await transform({ type: 'deduplicate', keys: ['id'], orderBy }, 'orders')).rows).toEqual([
      SECOND,
      THIRD,
      LAST,
    ]);
  });

  it('aggregate groups, nulls among themselves', async () => {
    const spec: Spec = {
      type: 'aggregate',
      groupBy: ['select'],
      measures: { n: 'count(*)', 'the sum': 'sum("Unit Price")', id: 'max(id) + 1' },
    };
    const { rows, types } = await transform(spec, 'orders');
    expect(rows).toHaveLength(3);
    expect(rows).toEqual(
      expect.arrayContaining([
        { select: 'EUR', n: '2', 'the sum': '17.75', id: '2' },
        { select: 'PLN', n: '1', 'the sum': '3.00', id: '3' },
        { select: null, n: '2', 'the sum': '1.00', id: null },
      ]),
    );
    expect(types).toEqual({ select: 'VARCHAR', n: 'BIGINT', 'the sum': 'DECIMAL(38,2)', id: 'BIGINT' });
    expect((await transform(spec, 'none')).rows).toEqual([]);
  });

  it('aggregate without groups is one row, of nothing too', async () => {
    const spec: Spec = { type: 'aggregate', measures: { n: 'count(*)', total: 'sum(id)' } };
    expect((await transform(spec, 'orders')).rows).toEqual([{ n: '5', total: '4' }]);
    expect((await transform(spec, 'none')).rows).toEqual([{ n: '0', total: null }]);
  });

  it('divides by zero as DuckDB does: infinity, and null of whole numbers', async () => {
    const measures = { x: 'max(id) / 0', y: 'max(id) // 0' };
    const { rows } = await transform({ type: 'aggregate', measures }, 'orders');
    expect(rows).toEqual([{ x: 'Infinity', y: null }]);
  });

  it.each<[string, number, unknown]>([
    ['INNER', 2, undefined],
    ['LEFT', 5, { ...LAST, currency: null, rate: null }],
    ['RIGHT', 4, { id: '9', 'Unit Price': null, select: null, 'a"b': null, currency: 'USD', rate: '3' }],
    ['FULL', 7, { id: '9', 'Unit Price': null, select: null, 'a"b': null, currency: 'USD', rate: '3' }],
  ])('join %s keeps one key column', async (how, count, odd) => {
    const { rows } = await transform({ type: 'join', how: how as 'INNER', on: ['id'] }, 'orders', 'rates');
    expect(rows).toHaveLength(count);
    expect(rows).toContainEqual({ ...FIRST, currency: 'EUR', rate: '4' });
    if (odd !== undefined) expect(rows).toContainEqual(odd);
  });

  it('join by pairs prefixes what both have', async () => {
    const spec: Spec = { type: 'join', on: { select: 'currency' }, rightPrefix: 'r ' };
    const { rows, types } = await transform(spec, 'orders', 'rates');
    expect(Object.keys(types)).toEqual(['id', 'Unit Price', 'select', 'a"b', 'currency', 'r id', 'rate']);
    expect(rows).toEqual(expect.arrayContaining([{ ...THIRD, currency: 'EUR', 'r id': '1', rate: '4' }]));
  });

  it('join SEMI and ANTI choose rows of the left, CROSS meets all', async () => {
    const on = ['id'];
    expect((await transform({ type: 'join', how: 'SEMI', on }, 'orders', 'rates')).rows).toEqual(
      expect.arrayContaining([FIRST, THIRD]),
    );
    const anti = await transform({ type: 'join', how: 'ANTI', on }, 'orders', 'rates');
    expect(anti.rows).toHaveLength(3);
    expect(anti.types).toEqual(ORDER_TYPES);
    expect((await transform({ type: 'join', how: 'CROSS' }, 'orders', 'rates')).rows).toHaveLength(15);
    expect((await transform({ type: 'join', on }, 'none', 'rates')).rows).toEqual([]);
  });

  it('mask hides values, and nulls stay null', async () => {
    const spec: Spec = {
      type: 'mask',
      columns: { mail: { method: 'HASH' }, phone: { method: 'PARTIAL' }, born: { method: 'NULL' } },
    };
    const hmac = (text: string) =>
      createHmac('sha256', Buffer.from(MASK_KEY, 'hex')).update(text).digest('hex');
    const { rows, types } = await transform(spec, 'people');
    expect(rows).toEqual([
      { mail: hmac('ann@example.com'), phone: '*******6789', born: null },
      { mail: hmac('żó'), phone: '*', born: null },
      { mail: null, phone: null, born: null },
    ]);
    expect(types).toEqual({ mail: 'VARCHAR', phone: 'VARCHAR', born: 'DATE' });
    const redacted = await transform(
      {
        type: 'mask',
        columns: {
          mail: { method: 'REDACT' },
          phone: { method: 'REDACT', with: "it's" },
          born: { method: 'PARTIAL', keep: 0 },
        },
      },
      'people',
    );
    expect(redacted.rows).toEqual([
      { mail: '[REDACTED]', phone: "it's", born: '**********' },
      { mail: '[REDACTED]', phone: "it's", born: null },
      { mail: null, phone: null, born: null },
    ]);
  });
});
