import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EngineFixture, openEngine, readParquet, sql } from '../engine-fixture.js';

let engine: EngineFixture;
let number = 0;

beforeAll(async () => {
  engine = await openEngine();
  const wide = Array.from({ length: 300 }, (_, index) => `${index} AS c${index}`);
  await Promise.all([
    engine.run('numbers', sql('SELECT range::INTEGER AS id FROM range(3)')),
    engine.run('many', sql('SELECT range::INTEGER AS id FROM range(2000)')),
    engine.run('wide', sql(`SELECT ${wide.join(', ')}`)),
    engine.run('endless', sql("SELECT 'inf'::DOUBLE AS up, '-inf'::FLOAT AS down, 'nan'::DOUBLE AS none")),
  ]);
});
afterAll(() => engine.close());

async function transform(code: string, input = 'numbers', columns?: Record<string, string>) {
  const id = `t${++number}`;
  const spec = { kind: 'transformation', type: 'javascript', code, ...(columns && { columns }) } as const;
  const outcome = await engine.run(id, spec, [input]);
  return {
    rows: await readParquet(join(engine.options.runDirectory, `${id}.parquet`)),
    types: (outcome.columns ?? []).map(({ name, type }) => `${name} ${type}`),
  };
}

const SAME = 'function transform(row) { return row }';
const returning = (row: string) => `function transform({ id }) { return ${row} }`;

describe('columns that code returns', () => {
  it('are columns however many there are', async () => {
    const { rows, types } = await transform(SAME, 'wide');
    expect(types).toHaveLength(300);
    expect(rows[0]).toMatchObject({ c0: 0, c299: 299 });
  });

  it('are columns however few rows have them', async () => {
    const { types } = await transform(returning("({ id, ['k' + (id % 50)]: 1 })"), 'many');
    expect(types).toHaveLength(51);
    expect(types).toContain('k49 BIGINT');
  });

  it('are none where every value is undefined', async () => {
    const { types } = await transform(returning('({ id: undefined, other: id })'));
    expect(types).toEqual(['other BIGINT']);
    expect(
      (await transform('function transform(row) { return { ...row, c0: undefined } }', 'wide')).types,
    ).toHaveLength(299);
  });

  it.each([
    [
      'differ by case alone in one row',
      '({ x: 1, X: 2 })',
      /differs from that of another by case alone, row 1/,
    ],
    ['differ by case alone in two', "({ [id < 2 ? 'x' : 'X']: 1 })", /differs .* by case alone, row 3/],
    ['have no name', "({ '': 1 })", /has a column without a name, row 1/],
    [
      'hold half of a surrogate pair',
      "({ '\\ud800': 1 })",
      /name is no Unicode \(half of a surrogate pair\), row 1/,
    ],
    ['hold U+0000', "({ 'a\\0b': 1 })", /whose name holds U\+0000, row 1/],
    ['are none', 'new Map([[1, 2]])', /No row that transform returned has a column/],
  ])('fail the task when their names %s', async (_, row, message) => {
    await expect(transform(returning(row))).rejects.toMatchObject({
      kind: 'SQL',
      message: expect.stringMatching(message),
    });
  });

  it('are found by declared columns of another case', async () => {
    const { rows, types } = await transform(returning('({ Id: id, Doc: [id] })'), 'numbers', {
      ID: 'INTEGER',
      doc: 'JSON',
    });
    expect(types).toEqual(['ID INTEGER', 'doc JSON']);
    expect(rows[2]).toEqual({ ID: 2, doc: '[2]' });
  });

  it('may be named __proto__ beside a BigInt', async () => {
    const { types } = await transform(returning("({ ['__proto__']: id, big: 1n })"));
    expect(types).toEqual(['__proto__ BIGINT', 'big VARCHAR']);
  });
});

describe('a column of the input', () => {
  it.each([
    ['a whole number by a fraction', 'row.id / 2', 'DOUBLE', [0, 0.5, 1]],
    ['a whole number by a tiny one', 'row.id * 1e-7', 'DOUBLE', [0, 1e-7, 2e-7]],
    ['a whole number by one without end', 'row.id / 0', 'DOUBLE', ['NaN', 'Infinity', 'Infinity']],
    ['a whole number by another', 'row.id * 2', 'INTEGER', [0, 2, 4]],
    ['a whole number by a BigInt', 'BigInt(row.id)', 'INTEGER', [0, 1, 2]],
  ])('is not rounded where code replaces %s', async (_, value, type, values) => {
    const { rows, types } = await transform(`function transform(row) { return { id: ${value} } }`);
    expect(types).toEqual([`id ${type}`]);
    expect(rows.map(({ id }) => id)).toEqual(values);
  });

  it('keeps the time that code gives a date', async () => {
    await engine.run('days', sql("SELECT DATE '2026-01-02' AS a, DATE '2026-01-02' AS b"));
    const code = "function transform({ a, b }) { return { a: a + 'T03:04:05', b: b.replace('-02', '-03') } }";
    const { rows, types } = await transform(code, 'days');
    expect(types).toEqual(['a TIMESTAMP', 'b DATE']);
    expect(rows).toEqual([{ a: '2026-01-02 03:04:05', b: '2026-01-03' }]);
  });
});

describe('numbers without end', () => {
  it('come back as they went in', async () => {
    const { rows, types } = await transform(SAME, 'endless');
    expect(rows).toEqual([{ up: 'Infinity', down: '-Infinity', none: 'NaN' }]);
    expect(types).toEqual(['up DOUBLE', 'down FLOAT', 'none DOUBLE']);
  });

  it('make a new column of doubles', async () => {
    const { rows, types } = await transform(returning('({ x: id / 0, y: 1 / 0 })'));
    expect(types).toEqual(['x DOUBLE', 'y DOUBLE']);
    expect(rows[0]).toEqual({ x: 'NaN', y: 'Infinity' });
  });

  it('leave a column of texts one of texts', async () => {
    const { types } = await transform(returning("({ x: id ? 'ab' : 1 / 0 })"));
    expect(types).toEqual(['x VARCHAR']);
  });
});

describe('text that is no Unicode', () => {
  beforeAll(() => engine.run('marks', sql("SELECT unnest(['a', '😀', 'b']) AS mark")));

  it.each([
    [
      'in a column of the input',
      'for (const k in row) row[k] = row[k][0]; return row',
      ' in the column "mark"',
    ],
    ['in a new column', 'return { new: row.mark[0] }', ' in the column "new"'],
    ['within a value', 'return { new: [{ x: row.mark[0] }] }', ' in the column "new"'],
    ['as a name within a value', 'return { new: { [row.mark[0]]: 1 } }', ' in the column "new"'],
    ['in a column named by a value', "return { ['x' + row.mark]: row.mark[0] }", ''],
  ])('fails the task %s', async (_, code, column) => {
    await expect(transform(`function transform(row) { ${code} }`, 'marks')).rejects.toMatchObject({
      kind: 'SQL',
      message: `code: What transform returned holds text that is no Unicode (half of a surrogate pair)${column}, row 2 of the input.`,
    });
  });

  it('is not what only looks so', async () => {
    const { rows } = await transform('function transform() { return { x: "\\\\ud800", y: "😀" } }');
    expect(rows[0]).toEqual({ x: '\\ud800', y: '😀' });
  });
});

describe('rows too large for the interpreter', () => {
  it('fail the task', async () => {
    await expect(transform(returning("({ x: 'ż'.repeat(1e7) })"))).rejects.toMatchObject({
      kind: 'SQL',
      message: 'code: The code needs more than 64 MiB.',
    });
  });
});
