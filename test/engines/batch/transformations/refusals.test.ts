import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TransformationSpec } from '../../../../src/engines/task-spec.js';
import { type EngineFixture, inline, openEngine, query } from '../engine-fixture.js';

let engine: EngineFixture;
let number = 0;

type Spec = { [S in TransformationSpec as S['type']]: Omit<S, 'kind'> }[TransformationSpec['type']];

beforeAll(async () => {
  engine = await openEngine();
  const columns = { id: 'BIGINT', 'Unit Price': 'DECIMAL(10,2)', select: 'VARCHAR', 'a"b': 'VARCHAR' };
  await engine.run('orders', inline([{ id: 1, 'Unit Price': '10.50', select: 'EUR', 'a"b': 'x' }], columns));
  await engine.run('rates', inline([{ currency: 'EUR', id: 1, rate: 4 }]));
  await engine.run('texts', inline([{ n: '1' }, { n: 'x' }]));
});
afterAll(() => engine.close());

function transform(spec: Spec, ...inputs: string[]) {
  return engine.run(`t${++number}`, { kind: 'transformation', ...spec } as TransformationSpec, inputs);
}

describe('what is refused', () => {
  it.each<[string, Spec, RegExp]>([
    [
      'an unknown column, with its place',
      { type: 'filter', where: 'id = 1\n  AND nosuch > 1' },
      /^where: There is no column "nosuch" in orders \(columns: id, Unit Price, select, a"b\) \(line 2, column 7 of the SQL\)/,
    ],
    ['a syntax error, with its place', { type: 'filter', where: 'id = = 1' }, /^where: .*line 1, column 6/],
    [
      'an unknown function, with its place',
      { type: 'filter', where: 'id = 1 AND\n nosuch(id)' },
      /^where: .*nosuch.*line 2, column 2/s,
    ],
    ['a subquery', { type: 'filter', where: 'id IN (SELECT 1)' }, /^where: A subquery/],
    [
      'a file',
      { type: 'filter', where: "(SELECT count(*) FROM read_text('/etc/passwd')) > 0" },
      /^where: A subquery/,
    ],
    [
      'a setting',
      { type: 'filter', where: "current_setting('temp_directory') = ''" },
      /^where: The function current_setting/,
    ],
    [
      'the key of masks',
      { type: 'filter', where: "getvariable('opsgraph_mask_inner') IS NULL" },
      /^where: The function getvariable/,
    ],
    ['what closes the parenthesis', { type: 'filter', where: '1 = 1) OR (2 = 2' }, /^where: /],
    ['a union', { type: 'filter', where: 'true UNION SELECT 1' }, /^where must be one SQL expression/],
    ['a second statement', { type: 'filter', where: 'true; DROP VIEW orders' }, /^where/],
    ['a semicolon', { type: 'filter', where: 'true;' }, /^where/],
    ['an open comment', { type: 'filter', where: 'true /*' }, /^where/],
    ['a parameter', { type: 'filter', where: 'id = $1' }, /^where: .*parameters/],
    ['a star', { type: 'aggregate', measures: { x: 'max(COLUMNS(*))' } }, /^measures.x: A star/],
    [
      'a measure that is no aggregate',
      { type: 'aggregate', measures: { x: 'id' } },
      /^measures.x: .*GROUP BY/s,
    ],
    [
      'a measure of several rows',
      { type: 'aggregate', measures: { n: 'count(*)', x: 'unnest(list(id))' } },
      /^measures.x: The function unnest gives several rows, not one value \(line 1, column 1 of the SQL\)/,
    ],
    [
      'two columns of one name',
      { type: 'aggregate', groupBy: ['id'], measures: { ID: 'count(*)' } },
      /^measures: two columns would be named "ID"/,
    ],
    [
      'an order with a limit',
      { type: 'deduplicate', keys: ['id'], orderBy: ['id LIMIT 1'] },
      /^orderBy\[0\] must be one column/,
    ],
    ['two orders in one', { type: 'deduplicate', keys: ['id'], orderBy: ['id, select'] }, /^orderBy\[0\]/],
    ['an unknown key', { type: 'deduplicate', keys: ['nosuch'] }, /^keys: There is no column "nosuch"/],
    [
      'a name taken',
      { type: 'rename', columns: { id: 'select' } },
      /^columns: two columns would be named "select"/,
    ],
    ['a join without its right', { type: 'join', on: ['id'] }, /takes 2 inputs, not 1/],
    [
      'a mask of no column',
      { type: 'mask', columns: { nosuch: { method: 'HASH' } } },
      /^columns: There is no column "nosuch"/,
    ],
  ])('%s', async (_, spec, message) => {
    await expect(transform(spec, 'orders')).rejects.toMatchObject({
      kind: 'SQL',
      message: expect.stringMatching(message),
    });
  });

  it('every function that DuckDB makes of unnest', async () => {
    const made = await query(
      `SELECT DISTINCT function_name AS name, len(parameters) AS n FROM duckdb_functions()
       WHERE function_type = 'macro' AND regexp_matches(macro_definition, '\\bun(nest|list)\\(', 'i')`,
    );
    expect(made.length).toBeGreaterThan(0);
    for (const { name, n } of made) {
      const x = `${name}(${Array.from({ length: Number(n) }, () => 'NULL').join(', ')})`;
      await expect(transform({ type: 'aggregate', measures: { x } }, 'orders')).rejects.toMatchObject({
        message: expect.stringMatching(/^measures.x: The function \w+ gives several rows/),
      });
    }
  });

  it('a value that does not cast, named by its column and not shown', async () => {
    await expect(transform({ type: 'cast', columns: { n: 'INTEGER' } }, 'texts')).rejects.toMatchObject({
      kind: 'SQL',
      message: expect.stringMatching(/^(?!.*'x').*a value of "n" does not cast from VARCHAR to INTEGER/),
    });
  });

  it('a join whose columns would get the same name', async () => {
    await expect(
      transform({ type: 'join', on: { select: 'currency' }, rightPrefix: '' }, 'orders', 'rates'),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/^rightPrefix: two columns would be named "id"/),
    });
  });
});
