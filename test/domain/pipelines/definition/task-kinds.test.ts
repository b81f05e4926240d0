import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { compiled, HEAD, refused } from './definitions.js';

/** A task of each kind with every field it can have. The spec is the text itself, but for what is named beside it. */
const SOURCES: Record<string, [yaml: string, added?: object]> = {
  csv: [
    `{ type: file, connection: lake, path: in/, format: csv, columns: { a: "DECIMAL(12,2)", at: TIMESTAMP }, csv: { delimiter: ";", header: false, quote: "'", escape: "\\\\", nullValue: "-", decimalSeparator: ",", dateFormat: "%d.%m.%Y", timestampFormat: "%s" }, incremental: { column: at, initial: "2026-01-01" }, quarantine: { maxShare: 0.1 } }`,
  ],
  parquet: [
    '{ type: file, path: a.parquet, incremental: { column: id, initial: 0 } }',
    { format: 'parquet' },
  ],
  ndjson: ['{ type: file, path: a.jsonl.gz, columns: { a: JSON } }', { format: 'ndjson' }],
  inline: ['{ type: inline, rows: [{ a: 1, b: [x] }], columns: { a: BIGINT, b: JSON } }'],
  postgres: [
    '{ type: postgres, connection: erp, table: public.orders, incremental: { column: updated_at } }',
  ],
  'a postgres query': ['{ type: postgres, connection: erp, query: SELECT 1 }'],
  mysql: ['{ type: mysql, connection: shop, table: items, incremental: { column: id, initial: 7 } }'],
  http: [
    '{ type: http, connection: api, path: /items, query: { state: open, n: 1, all: true }, headers: { Accept: application/json }, rows: /data/items, paging: { kind: page, parameter: page, start: 0, sizeParameter: size, size: 50 }, maxPages: 3, columns: { id: BIGINT }, incremental: { column: id, parameter: since } }',
  ],
  'http by offset': [
    '{ type: http, connection: api, path: /, paging: { kind: offset, parameter: o, size: 9 } }',
  ],
  'http by cursor': [
    '{ type: http, connection: api, path: /, paging: { kind: cursor, parameter: c, path: /next } }',
  ],
  'http by link': ['{ type: http, connection: api, path: "", paging: { kind: link } }'],
};

const TRANSFORMATIONS: Record<string, [yaml: string]> = {
  sql: ['{ type: sql, sql: FROM a }'],
  filter: ['{ type: filter, where: n > 1 }'],
  rename: ['{ type: rename, columns: { n: m }, keepOnlyNamed: true }'],
  cast: ['{ type: cast, columns: { n: DOUBLE }, onError: QUARANTINE, quarantine: { maxShare: 1 } }'],
  deduplicate: ['{ type: deduplicate, keys: [n], orderBy: [at DESC NULLS LAST, n] }'],
  aggregate: ['{ type: aggregate, groupBy: [n], measures: { total: sum(x), rows: count(*) } }'],
  mask: [
    '{ type: mask, columns: { a: { method: "NULL" }, b: { method: REDACT, with: "?" }, c: { method: HASH }, d: { method: PARTIAL, keep: 2 } } }',
  ],
  javascript: [
    '{ type: javascript, code: "function transform(row) { return row; }", columns: { n: BIGINT } }',
  ],
  join: ['{ type: join, inputs: [a, b], how: FULL, on: { n: m }, rightPrefix: b_ }'],
  'join by one name': ['{ type: join, inputs: [a, b], on: [n] }'],
  'join of all': ['{ type: join, inputs: [b, a], how: CROSS }'],
};

const TARGETS: Record<string, [yaml: string, added?: object]> = {
  file: ['{ type: file, connection: lake, path: out, format: csv, mode: APPEND }'],
  'file by its ending': ['{ type: file, path: out.parquet }', { format: 'parquet', mode: 'OVERWRITE' }],
  postgres: ['{ type: postgres, connection: dwh, table: mart.t, mode: UPSERT, keys: [n], widen: false }'],
  mysql: ['{ type: mysql, connection: shop, table: t, mode: MERGE, keys: [n, m], deleteWhen: gone }'],
  'mysql, appended': ['{ type: mysql, connection: shop, table: t, mode: APPEND }'],
};

/** The field of a task besides its spec, and what it came to. */
function specOf(yaml: string, id: string): unknown {
  return compiled(yaml).graph.tasks.find((task) => task.id === id)?.spec;
}

const withId = (yaml: string, id: string) => yaml.replace('{', `{ id: ${id},`);
const fields = (yaml: string) => {
  const { inputs: _, ...rest } = parse(yaml) as Record<string, unknown>;
  return rest;
};
const TARGET = 'target: { id: z, type: file, path: z.csv }';

describe('every kind of task', () => {
  it.each(Object.entries(SOURCES))('source %s', (_, [yaml, added]) => {
    const definition = `${HEAD}source: ${withId(yaml, 's')}\n${TARGET}`;
    expect(specOf(definition, 's')).toEqual({ kind: 'source', ...fields(yaml), ...added });
  });

  it.each(Object.entries(TRANSFORMATIONS))('transformation %s', (_, [yaml]) => {
    const two = yaml.includes('inputs');
    const sources = ['a', 'b'].map((id) => `{ id: ${id}, type: inline, rows: [{ n: 1 }] }`);
    const definition = `${HEAD}source: [${sources.slice(0, two ? 2 : 1).join(', ')}]\ntransformations: ${withId(yaml, 't')}\n${TARGET}`;
    expect(specOf(definition, 't')).toEqual({ kind: 'transformation', ...fields(yaml) });
  });

  it.each(Object.entries(TARGETS))('target %s', (_, [yaml, added]) => {
    const definition = `${HEAD}source: { id: a, type: inline, rows: [{ n: 1 }] }\ntarget: ${withId(yaml, 'z')}`;
    expect(specOf(definition, 'z')).toEqual({ kind: 'target', ...fields(yaml), ...added });
  });

  it('kafka is a source of the format, for an engine that is not there yet', () => {
    expect(
      refused(
        `${HEAD}source: { id: s, type: kafka, connection: k, topic: a.b-c, format: text, startFrom: EARLIEST, groupId: g, columns: { v: VARCHAR } }\n${TARGET}`,
      ),
    ).toEqual([expect.stringMatching(/^3:\d+ source\.type: .*STREAM.*supported yet/)]);
  });
});

it('checks of every kind reach their tasks in the order of the list, and a referential one waits', () => {
  const { graph, definition } = compiled(`${HEAD}contract: { ref: contracts/orders.odcs.yaml }
source:
  - { id: people, type: inline, rows: [{ id: 1 }] }
  - { id: orders, type: inline, rows: [{ id: 1, person: 1 }] }
quality:
  - { on: orders, type: notNull, column: id }
  - { on: people, type: unique, columns: [id, name], severity: WARNING }
  - { on: orders, type: rowCount, min: 1, max: 10 }
  - { on: orders, type: range, column: at, min: "2026-01-01", max: 7.5 }
  - { on: orders, type: regex, column: code, pattern: "^[A-Z]+$" }
  - { on: orders, type: freshness, column: at, maxAge: P1DT1H }
  - { on: orders, type: referential, column: person, references: { task: people, column: id } }
  - { on: orders, type: referential, column: parent, references: { task: orders, column: id } }
  - { on: orders, type: customSql, sql: FROM orders WHERE id < 0 }
target: { id: z, type: file, path: z.csv, input: orders }
`);
  expect(definition.contract).toEqual({ ref: 'contracts/orders.odcs.yaml', onBreach: 'BLOCK' });
  expect(graph.tasks.map(({ id, dependsOn, inputs }) => [id, dependsOn, inputs])).toEqual([
    ['people', [], []],
    ['orders', ['people'], []],
    ['z', ['orders'], ['orders']],
  ]);
  const [people, orders, target] = graph.tasks;
  expect(people?.checks).toEqual([
    { index: 1, type: 'unique', columns: ['id', 'name'], severity: 'WARNING' },
  ]);
  expect(target).not.toHaveProperty('checks');
  const severity = 'ERROR';
  expect(orders?.checks).toEqual([
    { index: 0, type: 'notNull', column: 'id', severity },
    { index: 2, type: 'rowCount', min: 1, max: 10, severity },
    { index: 3, type: 'range', column: 'at', min: '2026-01-01', max: 7.5, severity },
    { index: 4, type: 'regex', column: 'code', pattern: '^[A-Z]+$', severity },
    { index: 5, type: 'freshness', column: 'at', maxAgeMs: 90_000_000, severity },
    {
      index: 6,
      type: 'referential',
      column: 'person',
      references: { task: 'people', column: 'id' },
      severity,
    },
    {
      index: 7,
      type: 'referential',
      column: 'parent',
      references: { task: 'orders', column: 'id' },
      severity,
    },
    { index: 8, type: 'customSql', sql: 'FROM orders WHERE id < 0', severity },
  ]);
});
