import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EngineFixture, openEngine, query, sql } from '../engine-fixture.js';

let engine: EngineFixture;
let number = 0;

beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const SAME = 'function transform(row) { return row }';

/** What becomes of one value: its text as DuckDB writes it, and its type. */
async function through(value: string, code = SAME, columns?: Record<string, string>) {
  const [from, to] = [`from${++number}`, `to${number}`];
  await engine.run(from, sql(`SELECT ${value} AS c`));
  const spec = { kind: 'transformation', type: 'javascript', code, ...(columns && { columns }) } as const;
  const { columns: found } = await engine.run(to, spec, [from]);
  const path = join(engine.options.runDirectory, `${to}.parquet`);
  const [row] = await query(`SELECT CAST(c AS VARCHAR) AS text FROM read_parquet('${path}')`);
  return [row?.['text'], found?.[0]?.type];
}

const returning = (value: string) => `function transform(row) { return { c: ${value} } }`;

describe('a time before year 1 or without end', () => {
  it.each([
    ["DATE '0044-03-15 (BC)'", '0044-03-15 (BC)', 'DATE'],
    ["DATE '-infinity'", '-infinity', 'DATE'],
    ["TIMESTAMP '0044-03-15 (BC) 01:02:03.5'", '0044-03-15 (BC) 01:02:03.5', 'TIMESTAMP'],
    ["TIMESTAMP '0044-03-15 (BC)'", '0044-03-15 (BC) 00:00:00', 'TIMESTAMP'],
    ["TIMESTAMP 'infinity'", 'infinity', 'TIMESTAMP'],
    ["TIMESTAMPTZ '0044-03-15 (BC) 01:02:03+00'", '0044-03-15 (BC) 01:02:03+00', 'TIMESTAMP WITH TIME ZONE'],
    ["TIMESTAMPTZ '-infinity'", '-infinity', 'TIMESTAMP WITH TIME ZONE'],
    [
      "[TIMESTAMP '0044-03-15 (BC) 01:02:03', 'infinity', '12345-01-01 01:02:03']",
      "['0044-03-15 (BC) 01:02:03', infinity, '12345-01-01 01:02:03']",
      'TIMESTAMP[]',
    ],
  ])('comes back as it went in: %s', async (value, text, type) => {
    expect(await through(value)).toEqual([text, type]);
  });

  it('is in JavaScript as DuckDB writes it', async () => {
    const value = "[TIMESTAMPTZ '0044-03-15 (BC) 01:02:03+00', 'infinity', '12345-01-01 01:02:03+00']";
    const [text] = await through(value, returning('row.c.join()'));
    expect(text).toBe('0044-03-15 (BC) 01:02:03Z,infinity,12345-01-01T01:02:03Z');
  });
});

describe('a whole number beyond 2^53 in JSON', () => {
  const WIDE = `{"id":12345678901234567890,"text":"12345678901234567890, \\"1","list":[-9007199254740993,1.5,10]}`;

  it.each([
    [`'${WIDE}'::JSON`, WIDE, 'JSON'],
    ["'12345678901234567890123'::JSON", '12345678901234567890123', 'JSON'],
    [`{'j': '${WIDE}'::JSON, 'n': 9007199254740993}`, null, 'STRUCT(j JSON, n BIGINT)'],
    [`'"12345678901234567890"'::JSON`, '"12345678901234567890"', 'JSON'],
  ])('comes back as it went in: %s', async (value, text, type) => {
    const [got, found] = await through(value);
    expect(found).toBe(type);
    if (text === null) expect(got).toContain('"id":12345678901234567890');
    else expect(got).toBe(text);
  });

  it('is a BigInt', async () => {
    const code =
      'function transform({ c }) { c.id += 1n; c.seen = typeof c.id + JSON.stringify({ n: c.id }); return { c } }';
    expect(await through(`'{"id":12345678901234567890}'::JSON`, code)).toEqual([
      '{"id":12345678901234567891,"seen":"bigint{\\"n\\":\\"12345678901234567891\\"}"}',
      'JSON',
    ]);
  });

  it('stands beside doubles of as many digits', async () => {
    const value =
      "{'j': '12345678901234567890'::JSON, 'd': [1e15::DOUBLE, 1e16, 1e17, 1e20, 123456789012345678], 'f': 1e17::FLOAT}";
    const [text] = await through(value);
    expect(text).toBe((await query(`SELECT CAST(${value} AS VARCHAR) AS text`))[0]?.['text']);
  });
});

it('needs no memory for each key of its maps', async () => {
  await engine.run(
    'keyed',
    sql("SELECT MAP {range: 1.5::DOUBLE, range + 1: 'inf'::DOUBLE} AS c FROM range(30000)"),
  );
  const outcome = await engine.run('kept', { kind: 'transformation', type: 'javascript', code: SAME }, [
    'keyed',
  ]);
  expect(outcome).toMatchObject({ rows: 30000, columns: [{ name: 'c', type: 'MAP(BIGINT, DOUBLE)' }] });
});

describe('a value that holds others', () => {
  it.each([
    ["['inf'::DOUBLE, 'nan', '-inf', 1.5, NULL]", '[inf, nan, -inf, 1.5, NULL]', 'DOUBLE[]'],
    ["{'a': ['nan'::FLOAT], 'b': NULL::DOUBLE}", "{'a': [nan], 'b': NULL}", 'STRUCT(a FLOAT[], b DOUBLE)'],
    ["MAP {'k': 'inf'::DOUBLE, 'l': NULL}", '{k=inf, l=NULL}', 'MAP(VARCHAR, DOUBLE)'],
    [
      '[9007199254740993::BIGINT, -9223372036854775808]',
      '[9007199254740993, -9223372036854775808]',
      'BIGINT[]',
    ],
    ["{'id': 18446744073709551615::UBIGINT}", "{'id': 18446744073709551615}", 'STRUCT(id UBIGINT)'],
    ['[12345678901234567890123.10::DECIMAL(38,2)]', '[12345678901234567890123.10]', 'DECIMAL(38,2)[]'],
    ["['\\x00\\xAAa\\x5C'::BLOB]", '[\\x00\\xAAa\\x5C]', 'BLOB[]'],
    ['MAP {[1, 2]: [3.5::DOUBLE]}', '{[1, 2]=[3.5]}', 'MAP(INTEGER[], DOUBLE[])'],
    [
      "[{'a': 1, 'b c': NULL}, NULL, {'a': NULL, 'b c': ['x', NULL, 'y\n']}]",
      "[{'a': 1, 'b c': NULL}, NULL, {'a': NULL, 'b c': [x, NULL, 'y\n']}]",
      'STRUCT(a INTEGER, "b c" VARCHAR[])[]',
    ],
    ['[[], NULL, [NULL]]::INTEGER[][]', '[[], NULL, [NULL]]', 'INTEGER[][]'],
    ['NULL::STRUCT(a BIGINT)[]', null, 'STRUCT(a BIGINT)[]'],
    [`['{"a":[1]}'::JSON]`, `[{"a":[1]}]`, 'JSON[]'],
  ])('comes back as it went in: %s', async (value, text, type) => {
    expect(await through(value)).toEqual([text, type]);
  });

  it('holds in JavaScript what columns of its types do', async () => {
    const value = `[{'big': 9007199254740993::BIGINT, 'small': 1::BIGINT, 'price': 1.10::DECIMAL(4,2),
      'ratio': '-inf'::DOUBLE, 'bytes': '\\xAA'::BLOB, 'at': TIMESTAMP '2026-01-02 03:04:05', 'map': MAP {1: 2::BIGINT}}]`;
    const shown = returning(
      "Object.entries(row.c[0]).map(([k, v]) => k + ' ' + typeof v + ' ' + (typeof v === 'object' ? JSON.stringify(v) : v)).join('|')",
    );
    const [text] = await through(value, shown);
    expect(String(text).split('|')).toEqual([
      'big bigint 9007199254740993',
      'small number 1',
      'price string 1.10',
      'ratio number -Infinity',
      'bytes string qg==',
      'at string 2026-01-02T03:04:05',
      'map object {"1":2}',
    ]);
  });

  it.each([
    [
      "{'id': 9007199254740993::BIGINT}",
      '{ id: row.c.id + 1n }',
      "{'id': 9007199254740994}",
      'STRUCT(id BIGINT)',
    ],
    ["{'id': 1}", '{}', "{'id': NULL}", 'STRUCT(id INTEGER)'],
    ["MAP {'a': 1}", '{ ...row.c, b: 2 }', '{a=1, b=2}', 'MAP(VARCHAR, INTEGER)'],
    ['[1.5::DOUBLE]', '[1 / 0, -1 / 0, 0 / 0]', '[inf, -inf, nan]', 'DOUBLE[]'],
  ])('keeps its type while all in it do: %s by %s', async (value, code, text, type) => {
    expect(await through(value, returning(`(${code})`))).toEqual([text, type]);
  });

  it.each([
    ['[1, 2]', "['x', 2]", '["x", 2]', 'JSON[]'],
    ['[1, 2]', '[1.5, 2]', '[1.5, 2.0]', 'DOUBLE[]'],
    ["{'id': 1}", '({ ...row.c, more: 2 })', "{'id': 1, 'more': 2}", 'STRUCT(id BIGINT, more BIGINT)'],
    ["{'id': 1}", "'x'", 'x', 'VARCHAR'],
    ['MAP {1: 2}', "({ 1: 2, '01': 3 })", "{'1': 2, '01': 3}", 'STRUCT("1" BIGINT, "01" BIGINT)'],
  ])('loses nothing where code changes it: %s by %s', async (value, code, text, type) => {
    expect(await through(value, returning(code))).toEqual([text, type]);
  });

  it.each([
    ['DOUBLE[]', '[1 / 0, 1]', '[inf, 1.0]'],
    ['VARCHAR[]', "['a\\nb', 'é, \"']", "[a\nb, 'é, \"']"],
    ['STRUCT(a DECIMAL(4,2), j JSON)', "({ a: '1.10', j: [1], more: 1 })", "{'a': 1.10, 'j': '[1]'}"],
    ['MAP(VARCHAR, BIGINT)', '({ a: 9007199254740993n })', '{a=9007199254740993}'],
  ])('takes a declared %s', async (type, code, text) => {
    expect(await through('1', returning(code), { c: type })).toEqual([text, type]);
  });

  it.each([
    ['INTEGER[]', "[1, 'x']"],
    ['STRUCT(a INTEGER)', '[1]'],
    ['STRUCT(a INTEGER)', "({ a: 'x' })"],
    ['INTEGER[2]', '[1]'],
  ])('fails where it is no declared %s', async (type, code) => {
    await expect(through('1', returning(code), { c: type })).rejects.toMatchObject({
      kind: 'SQL',
      message: expect.stringContaining('a value of "c" does not cast from what transform returned'),
    });
  });

  it.each([
    ["row(1, 'a')", /The column "c" is a STRUCT.* give its fields names\./],
    ['[union_value(num := 2)]', /The column "c" is a STRUCT.* give its fields names\./],
    ['1::VARIANT', /The column "c" is a VARIANT, .* cast it to JSON\./],
  ])('fails the task when its type cannot come back: %s', async (value, message) => {
    await expect(through(value)).rejects.toMatchObject({
      kind: 'SQL',
      message: expect.stringMatching(message),
    });
  });

  it('fails the task when it holds a function', async () => {
    await expect(through('1', returning('[() => 1]'))).rejects.toMatchObject({
      message: 'code: What transform returned holds a function, row 1 of the input.',
    });
  });
});
