import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { QualityCheckSpec } from '../../../../src/engines/task-spec.js';
import { type EngineFixture, inline, openEngine, sql } from '../engine-fixture.js';

type Bare = QualityCheckSpec extends infer C
  ? C extends unknown
    ? Omit<C, 'severity' | 'index'>
    : never
  : never;

let engine: EngineFixture;
let number = 0;
const HOUR = 3_600_000;

beforeAll(async () => {
  engine = await openEngine();
  await engine.run('customers', inline([{ id: 1 }, { id: 2 }, { id: null }]));
  await engine.run(
    'rows',
    inline(
      [
        { id: 1, customer: 1, mail: 'a@x', price: 5, day: '2026-01-01', 'odd "name"': 'x' },
        { id: 2, customer: 9, mail: 'b', price: -1, day: '2026-01-02', 'odd "name"': null },
        { id: 2, customer: 2, mail: null, price: 0.5, day: '2026-03-01', 'odd "name"': 'x' },
        { id: null, customer: null, mail: 'c@y', price: null, day: null, 'odd "name"': 'y' },
      ],
      {
        id: 'INTEGER',
        customer: 'INTEGER',
        mail: 'VARCHAR',
        price: 'DOUBLE',
        day: 'DATE',
        'odd "name"': 'VARCHAR',
      },
    ),
  );
});
afterAll(() => engine.close());

async function check(checks: Bare[], text = 'FROM rows') {
  const id = `t${++number}`;
  const outcome = await engine.execute({
    id,
    inputs: ['rows'],
    spec: sql(text.replaceAll('$id', id)),
    checks: checks.map((each, index) => ({ severity: 'ERROR', index, ...each }) as QualityCheckSpec),
  });
  return outcome.checks ?? [];
}

describe('each check', () => {
  it.each<[string, Bare, boolean, number | undefined, RegExp]>([
    ['notNull fails', { type: 'notNull', column: 'ID' }, false, 1, /^"ID" is null in 1 row$/],
    ['notNull passes', { type: 'notNull', column: 'customer' }, false, 1, /null/],
    ['notNull of an odd name', { type: 'notNull', column: 'odd "name"' }, false, 1, /odd/],
    [
      'unique fails by all that share a value',
      { type: 'unique', columns: ['id'] },
      false,
      2,
      /^"id" is not unique: 2 rows share a value$/,
    ],
    [
      'unique passes over several columns',
      { type: 'unique', columns: ['id', 'customer'] },
      true,
      0,
      /is unique/,
    ],
    ['rowCount too few', { type: 'rowCount', min: 5 }, false, undefined, /^4 rows, at least 5 expected$/],
    [
      'rowCount within',
      { type: 'rowCount', min: 1, max: 4 },
      true,
      undefined,
      /^4 rows, from 1 to 4 expected$/,
    ],
    [
      'range of numbers',
      { type: 'range', column: 'price', min: 0, max: 5 },
      false,
      1,
      /^"price" is not from 0 to 5 in 1 row$/,
    ],
    [
      'range with a fraction on integers',
      { type: 'range', column: 'id', min: 1.5 },
      false,
      1,
      /at least 1.5/,
    ],
    [
      'range of dates',
      { type: 'range', column: 'day', min: '2026-01-01', max: '2026-12-31' },
      true,
      0,
      /from 2026-01-01/,
    ],
    [
      'regex',
      { type: 'regex', column: 'mail', pattern: '^[^@]+@[^@]+$' },
      false,
      1,
      /does not match .* in 1 row$/,
    ],
    ['regex of a number', { type: 'regex', column: 'id', pattern: "^\\d$|'" }, true, 0, /matches/],
    [
      'freshness of old data',
      { type: 'freshness', column: 'day', maxAgeMs: HOUR },
      false,
      undefined,
      /^the newest "day" is 2026-03-01T00:00:00.000Z, \d+ s old; 3600 s are allowed$/,
    ],
    [
      'referential',
      { type: 'referential', column: 'customer', references: { task: 'customers', column: 'ID' } },
      false,
      1,
      /^"customer" is not in "ID" of customers in 1 row$/,
    ],
    [
      'an unknown column',
      { type: 'notNull', column: 'nosuch' },
      false,
      undefined,
      /cannot be tried: the result has no column "nosuch"/,
    ],
    [
      'a pattern that is none',
      { type: 'regex', column: 'mail', pattern: '(' },
      false,
      undefined,
      /cannot be tried/,
    ],
    [
      'a limit that is no date',
      { type: 'range', column: 'day', min: 'soon' },
      false,
      undefined,
      /cannot be tried/,
    ],
    [
      'freshness of text',
      { type: 'freshness', column: 'mail', maxAgeMs: 1 },
      false,
      undefined,
      /neither a date nor a timestamp/,
    ],
    [
      'customSql over another task',
      { type: 'customSql', sql: 'FROM customers' },
      false,
      undefined,
      /cannot be tried: "customers" is not an input/,
    ],
    [
      'customSql over a file',
      { type: 'customSql', sql: "FROM read_text('/etc/passwd')" },
      false,
      undefined,
      /cannot be tried: The table function read_text/,
    ],
  ])('%s', async (_, spec, passed, failedRows, message) => {
    const [result] = await check([spec]);
    expect(result).toEqual({
      index: 0,
      passed,
      ...(failedRows !== undefined && { failedRows }),
      message: expect.stringMatching(message),
    });
  });

  it('customSql passes when it yields no row of the task', async () => {
    const id = `t${number + 1}`;
    const results = await check([
      { type: 'customSql', sql: `SELECT * FROM ${id} WHERE price > 100;` },
      { type: 'customSql', sql: `WITH big AS (FROM ${id} WHERE price > 0) SELECT * FROM big -- all` },
    ]);
    expect(results.map(({ passed, failedRows }) => [passed, failedRows])).toEqual([
      [true, 0],
      [false, 2],
    ]);
  });

  it('freshness counts from now', async () => {
    const fresh =
      'SELECT now() - INTERVAL 30 MINUTE AS "at", now()::TIMESTAMP - INTERVAL 2 HOUR AS older FROM rows';
    const results = await check(
      [
        { type: 'freshness', column: 'at', maxAgeMs: HOUR },
        { type: 'freshness', column: 'older', maxAgeMs: HOUR },
      ],
      fresh,
    );
    expect(results.map(({ passed }) => passed)).toEqual([true, false]);
  });

  it('nothing of an empty result is wrong but its count and age', async () => {
    const results = await check(
      [
        { type: 'notNull', column: 'id' },
        { type: 'unique', columns: ['id'] },
        { type: 'rowCount', min: 1 },
        { type: 'freshness', column: 'day', maxAgeMs: HOUR },
      ],
      'FROM rows LIMIT 0',
    );
    expect(results.map(({ passed }) => passed)).toEqual([true, true, false, false]);
  });
});

it('all are reported in their order, also when one of them cannot be tried', async () => {
  const results = await check([
    { type: 'unique', columns: ['id'] },
    { type: 'regex', column: 'mail', pattern: '[' },
    { type: 'rowCount', max: 10 },
    { type: 'range', column: 'mail', max: 3 },
    { type: 'notNull', column: 'price' },
  ]);
  expect(results.map(({ index, passed }) => [index, passed])).toEqual([
    [0, false],
    [1, false],
    [2, true],
    [3, false],
    [4, false],
  ]);
  expect(results[4]).toMatchObject({ failedRows: 1 });
});
