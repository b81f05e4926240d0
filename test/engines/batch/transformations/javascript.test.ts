import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EngineFixture, inline, openEngine, readParquet, sql } from '../engine-fixture.js';

let engine: EngineFixture;
let number = 0;

const TYPED = `SELECT * FROM (VALUES
  (1::BIGINT, 9007199254740993::BIGINT, 10.50::DECIMAL(18,2), 1.5::DOUBLE, DATE '2026-01-02', TIMESTAMP '2026-01-02 03:04:05.678',
   TIMESTAMPTZ '2026-01-02 03:04:05+00', 'é'::VARCHAR, true, [1, 2], {'a': 1}, '\\xAA'::BLOB, NULL::INTEGER),
  (2, NULL, NULL, 'nan', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7))
  t(id, big, price, ratio, day, "at", zoned, "the text", flag, list, struct, bytes, nothing)`;

beforeAll(async () => {
  engine = await openEngine();
  await engine.run('typed', sql(TYPED));
  await engine.run(
    'people',
    inline([
      { id: 1, mail: 'ann@example.com' },
      { id: 2, mail: null },
      { id: 3, mail: 'bo@example.com' },
    ]),
  );
});
afterAll(() => engine.close());

async function transform(code: string, input = 'people', columns?: Record<string, string>) {
  const id = `t${++number}`;
  const outcome = await engine.run(
    id,
    { kind: 'transformation', type: 'javascript', code, ...(columns && { columns }) },
    [input],
  );
  return {
    rows: await readParquet(join(engine.options.runDirectory, `${id}.parquet`)),
    types: Object.fromEntries((outcome.columns ?? []).map(({ name, type }) => [name, type])),
  };
}

describe('rows through JavaScript', () => {
  it('come back as they went in, in type and value', async () => {
    const before = await readParquet(join(engine.options.runDirectory, 'typed.parquet'));
    const { rows, types } = await transform('function transform(row) { return row }', 'typed');
    expect(rows).toEqual(before);
    expect(types).toEqual({
      id: 'BIGINT',
      big: 'BIGINT',
      price: 'DECIMAL(18,2)',
      ratio: 'DOUBLE',
      day: 'DATE',
      at: 'TIMESTAMP',
      zoned: 'TIMESTAMP WITH TIME ZONE',
      'the text': 'VARCHAR',
      flag: 'BOOLEAN',
      list: 'INTEGER[]',
      struct: 'STRUCT(a INTEGER)',
      bytes: 'BLOB',
      nothing: 'INTEGER',
    });
  });

  it('are seen as documented', async () => {
    const { rows } = await transform(
      `const transform = (row) => row.id !== 1 ? null : ({ kinds: Object.entries(row).map(([k, v]) => k + ' ' + typeof v + ' ' + (typeof v === 'object' ? JSON.stringify(v) : v)).join('|') })`,
      'typed',
    );
    expect(String(rows[0]?.['kinds']).split('|')).toEqual([
      'id number 1',
      'big bigint 9007199254740993',
      'price string 10.50',
      'ratio number 1.5',
      'day string 2026-01-02',
      'at string 2026-01-02T03:04:05.678',
      'zoned string 2026-01-02T03:04:05Z',
      'the text string é',
      'flag boolean true',
      'list object [1,2]',
      'struct object {"a":1}',
      'bytes string qg==',
      'nothing object null',
    ]);
  });

  it('may become none, one or several, and keep what the code remembers', async () => {
    const { rows } = await transform(`
      let seen = 0;
      function transform(row) {
        seen++;
        if (row.mail === null) return null;
        return [{ id: row.id, n: seen }, { id: row.id, n: seen * 1.5, extra: 'x' }];
      }`);
    expect(rows).toEqual([
      { id: '1', n: 1, extra: null },
      { id: '1', n: 1.5, extra: 'x' },
      { id: '3', n: 3, extra: null },
      { id: '3', n: 4.5, extra: 'x' },
    ]);
  });

  it('take the declared types, and fail where a value does not cast', async () => {
    const columns = { id: 'INTEGER', price: 'DECIMAL(18,2)', when: 'DATE', doc: 'JSON', big: 'BIGINT' };
    const code = `function transform(row) { return { id: row.id, price: '1.10', when: '2026-02-03', doc: { a: [1] }, big: 9007199254740993n } }`;
    const { rows, types } = await transform(code, 'people', columns);
    expect(rows[0]).toEqual({
      id: 1,
      price: '1.10',
      when: '2026-02-03',
      doc: '{"a":[1]}',
      big: '9007199254740993',
    });
    expect(types).toEqual(columns);
    await expect(transform(code, 'people', { price: 'DATE' })).rejects.toMatchObject({
      kind: 'SQL',
      message: expect.stringMatching(/a value of "price" does not cast/),
    });
  });

  it('of which there are none keep their columns', async () => {
    const { rows, types } = await transform('function transform() { return null }');
    expect(rows).toEqual([]);
    expect(types).toEqual({ id: 'BIGINT', mail: 'VARCHAR' });
    await engine.run('nobody', sql('FROM people LIMIT 0'), ['people']);
    expect(
      (await transform('function transform(row) { return row }', 'nobody', { a: 'DATE' })).types,
    ).toEqual({ a: 'DATE' });
  });
});

describe('errors in the code', () => {
  it.each<[string, string, RegExp]>([
    [
      'a type error, with line and row',
      'function transform(row) {\n  return { n: row.mail.length };\n}',
      /^code: TypeError in line 2: cannot read property 'length' of null, row 2 of the input\.$/,
    ],
    [
      'an error of the author, without values',
      'function transform(row) {\n\n  throw new Error("bad " + row.mail);\n}',
      /^code: Error in line 3, row 1 of the input\.$/,
    ],
    [
      'an error of the author whose text is in the code',
      'function transform(row) { throw new RangeError("no such mail") }',
      /^code: RangeError in line 1: no such mail, row 1/,
    ],
    ['a syntax error', 'function transform(row) {\n  return {;\n}', /^code: SyntaxError in line 2/],
    ['no function', 'const x = 1', /^code: The code defines no function named transform\.$/],
    [
      'no row',
      'function transform(row) { }',
      /^code: What transform returned is not a row, row 1 of the input/,
    ],
    ['a promise', 'async function transform(row) { return row }', /is a promise/],
    ['a function in a row', 'function transform(row) { return { f() {} } }', /holds a function/],
    [
      'a value that fails while it is written, without it',
      'function transform(row) {\n  return { toJSON() {\n    throw new Error(row.mail) } } }',
      /^code: (What transform returned holds a function|Error in line 3), row 1 of the input\.$/,
    ],
    [
      'a circle',
      'function transform(row) { row.self = row; return row }',
      /^code: TypeError.*circular reference, row 1/,
    ],
    [
      'an endless loop',
      'function transform(row) { if (row.id === 2) for (;;); return row }',
      /^code: The code ran for longer than 1 s, row 2 of the input/,
    ],
    ['an endless loop before any row', 'for (;;);', /^code: The code ran for longer than 1 s\./],
    [
      'a memory bomb',
      'function transform(row) { return { a: new ArrayBuffer(1e9) } }',
      /^code: The code needs more than 64 MiB, row 1/,
    ],
    ['endless recursion', 'function transform(row) { return transform(row) }', /^code: .*(stack|call)/i],
  ])('%s', async (_, code, message) => {
    await expect(transform(code)).rejects.toMatchObject({
      kind: 'SQL',
      transient: false,
      message: expect.stringMatching(message),
    });
  });

  it('are told with the row of the whole input, beyond the first batch', async () => {
    await engine.run('many', sql("SELECT range AS n, repeat('x', 100) AS pad FROM range(100000)"));
    await expect(
      transform('function transform(row) { if (row.n === 54321) null.x; return row }', 'many'),
    ).rejects.toMatchObject({ message: expect.stringMatching(/row 54322 of the input/) });
  });
});

describe('code that reaches out', () => {
  it.each([
    "this.constructor.constructor('return process')()",
    "globalThis.constructor.constructor('return process')().env",
    "(function(){}).constructor('return require')()('node:fs')",
    "require('node:fs')",
    'process.env',
    "fetch('http://127.0.0.1')",
    'std.getenv("HOME")',
    "os.open('/etc/passwd')",
    'new Date()',
    'Math.random()',
    'setTimeout(() => {}, 1)',
    'new Worker("x")',
    'WebAssembly.compile(new Uint8Array())',
    'performance.now()',
  ])('%s finds nothing', async (expression) => {
    await expect(
      transform(`function transform(row) { return { found: String(${expression}) } }`),
    ).rejects.toMatchObject({
      kind: 'SQL',
      message: expect.stringMatching(/^code: (TypeError|ReferenceError)/),
    });
  });

  it('import() loads nothing', async () => {
    const { rows } = await transform(
      `let got = 'nothing'; function transform(row) { import('node:fs').then((fs) => { got = Object.keys(fs).join() }, () => {}); return { got } }`,
    );
    expect(rows).toEqual([{ got: 'nothing' }, { got: 'nothing' }, { got: 'nothing' }]);
    await expect(
      transform("import fs from 'node:fs'; function transform(row) { return row }"),
    ).rejects.toMatchObject({ message: /SyntaxError/ });
  });

  it('redefining the language changes nothing for the engine', async () => {
    const { rows } = await transform(
      `JSON.stringify = () => 'x'; JSON.parse = () => [{}]; Object.keys = () => []; Array.isArray = () => true; Number.isSafeInteger = () => false; String = null;
       function transform(row) { return row }`,
    );
    expect(rows).toHaveLength(3);
    expect(rows[0]).toEqual({ id: '1', mail: 'ann@example.com' });
  });
});

it('cancelling ends an endless loop at once, and other tasks run meanwhile', async () => {
  const controller = new AbortController();
  const looping = engine.run(
    'looping',
    {
      kind: 'transformation',
      type: 'javascript',
      code: 'function transform(row) { for (let i = 0; i < 3e6; i++); return row }',
    },
    ['many'],
    controller.signal,
  );
  const caught = looping.catch((error: unknown) => error);
  await transform('function transform(row) { return row }');
  controller.abort();
  expect(await caught).toMatchObject({ kind: 'CANCELLED' });
});
