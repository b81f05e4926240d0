import { describe, expect, it } from '@jest/globals';
import { parseDefinition } from '../../../../src/domain/pipelines/definition/index.js';
import { compiled, HEAD, refused } from './definitions.js';

function choiceOf(yaml: string): string {
  const parsed = parseDefinition(`apiVersion: v1\nname: x\n${yaml}`, { connections: new Map() });
  if (!parsed.ok) return parsed.errors.map(({ line, message }) => `${line}: ${message}`).join('\n');
  const told = parsed.warnings.filter(({ rule }) => rule === 'dialect-by-auto');
  return [parsed.graph.engine, ...told.map(({ line, message }) => `${line}: ${message}`)].join('\n');
}

const orders = '{ id: orders, type: postgres, connection: dwh, table: public.orders }';
const out = '{ id: out, type: postgres, connection: dwh, table: mart.orders, mode: OVERWRITE }';
const within = `source: ${orders}\ntarget: ${out}\n`;
const through = (transformation: string) =>
  `source: ${orders}\ntransformations: [${transformation}]\ntarget: ${out}\n`;

/** Each cannot be pushed down, and why. */
const OBSTACLES: readonly (readonly [string, string, string])[] = [
  [
    'two connections',
    `source: ${orders}\ntarget: ${out.replace('dwh', 'mart')}\n`,
    '"orders" is on the connection "dwh", "out" on "mart".',
  ],
  [
    'a source outside',
    `source: { id: a, type: inline, rows: [{ n: 1 }] }\ntarget: ${out}\n`,
    '"a" is a source of type inline, which cannot be pushed down.',
  ],
  [
    'a file as a second target',
    `source: ${orders}\ntarget: [${out}, { id: f, type: file, path: a.parquet }]\n`,
    '"f" is a target of type file, which cannot be pushed down.',
  ],
  [
    'two databases on what should be one connection',
    `source: ${orders}\ntarget: ${out.replace('postgres', 'mysql')}\n`,
    '"orders" is of type postgres, "out" of type mysql, on one connection.',
  ],
  [
    'a masked column',
    through('{ id: m, type: mask, columns: { name: { method: HASH } } }'),
    '"m" is a transformation of type mask, which cannot be pushed down.',
  ],
  [
    'a watermark',
    within.replace('table: public.orders', 'table: public.orders, incremental: { column: id }'),
    '"orders" is incremental, and a watermark is kept by BATCH only.',
  ],
  [
    'a check',
    `${within}quality: [{ on: orders, type: notNull, column: id }]\n`,
    '"orders" has quality checks, which need its result before the targets are written.',
  ],
  [
    'a timeout of one task',
    within.replace('mode: OVERWRITE', 'mode: OVERWRITE, timeout: PT1M'),
    '"out" has a retry or timeout of its own, which one transaction cannot keep: put it at the top.',
  ],
  [
    'no target',
    'tasks: [{ id: orders, kind: source, type: postgres, connection: dwh, table: t }]\n',
    'no task is a target.',
  ],
];

describe('the engine of a definition', () => {
  it.each(OBSTACLES)('is BATCH with %s, and an error when JDBC is asked for', (_, yaml, why) => {
    expect(choiceOf(yaml)).toBe('BATCH');
    expect(choiceOf(`${yaml}engine: JDBC`)).toMatch(
      /^\d+: The engine JDBC runs everything inside one database: /,
    );
    expect(choiceOf(`${yaml}engine: JDBC`)).toContain(why);
  });

  it.each(['postgres', 'mysql'])(
    'is JDBC when one %s connection can do it all, unless told otherwise',
    (type) => {
      const yaml = within.replaceAll('postgres', type);
      expect(choiceOf(yaml)).toBe('JDBC');
      expect(choiceOf(`${yaml}engine: JDBC`)).toBe('JDBC');
      expect(choiceOf(`${yaml}engine: BATCH`)).toBe('BATCH');
      expect(choiceOf(`${yaml}retry: { type: fixed, maxAttempts: 3 }\ntimeout: PT1H`)).toBe('JDBC');
    },
  );

  it.each([
    ['postgres', 'PostgreSQL'],
    ['mysql', 'MySQL'],
  ])('tells once that AUTO decided whose SQL is spoken (%s)', (type, database) => {
    const filtered = through(
      "{ id: f, type: filter, where: 'a > 1' }, { id: g, type: filter, where: 'b' }",
    ).replaceAll('postgres', type);
    expect(choiceOf(filtered)).toBe(
      `JDBC\n4: AUTO runs this inside ${database}, so the SQL of "f" is ${database}'s and not DuckDB's: say so with "engine: JDBC", or write "engine: BATCH".`,
    );
    expect(choiceOf(`${filtered}engine: JDBC`)).toBe('JDBC');
    expect(choiceOf(through('{ id: r, type: rename, columns: { a: b } }'))).toBe('JDBC');
  });

  it.each(['', 'engine: AUTO', 'engine: BATCH'])('never ends with a source that does not (%s)', (engine) => {
    const kafka = `source: { id: k, type: kafka, connection: bus, topic: t, format: json }\ntarget: ${out}\n`;
    expect(refused(`${HEAD}${kafka}${engine}`)).toEqual([
      '3:18 source.type: "k" never ends, and the engine STREAM is not supported yet.',
    ]);
  });

  it('is told together with all that is wrong besides, where it is at fault', () => {
    expect(refused(`${HEAD}${within}engine: STREAM\nextra: 1`)).toEqual([
      '5:9 engine: The engine STREAM is not supported yet.',
      '6:1 extra: Unknown key "extra".',
    ]);
    const kafka = 'source: { id: k, type: kafka, connection: bus, topic: t, wrong: 1 }';
    expect(refused(`${HEAD}${kafka}\ntarget: ${out}`)).toEqual([
      '3:18 source.type: "k" never ends, and the engine STREAM is not supported yet.',
      '3:58 source.wrong: Unknown key "wrong".',
    ]);
    expect(
      refused(`${HEAD}engine: SPARK\n${kafka.replace('wrong: 1', 'format: json')}\ntarget: ${out}`),
    ).toEqual([
      '3:9 engine: engine cannot be "SPARK": it must be one of AUTO, BATCH, STREAM, JDBC.',
      '4:18 source.type: "k" never ends, and the engine STREAM is not supported yet.',
    ]);
  });

  it('JDBC is refused at each place that stands in its way, and not for what is no type at all', () => {
    const inside = 'The engine JDBC runs everything inside one database: ';
    expect(
      refused(`${HEAD}engine: JDBC
source:
  - { id: a, type: postgres, connection: dwh, table: t, incremental: { column: id } }
  - { id: b, type: postgre, connection: dwh, table: t }
target: { id: out, type: file, path: a.parquet, input: a, timeout: PT1M }
quality: { on: a, type: notNull, column: id }`),
    ).toEqual([
      `5:57 source[0].incremental: ${inside}"a" is incremental, and a watermark is kept by BATCH only.`,
      expect.stringMatching(/^6:14 source\[1\]\.type: type cannot be "postgre"/),
      `7:20 target.type: ${inside}"out" is a target of type file, which cannot be pushed down.`,
      `8:12 quality.on: ${inside}"a" has quality checks, which need its result before the targets are written.`,
    ]);
  });

  it('AUTO says why what stands on one connection is BATCH all the same, and not when it is asked for', () => {
    const checked = `${within}timeout: PT1M\nquality: [{ on: orders, type: notNull, column: id }]\n`;
    const told = (yaml: string) =>
      compiled(`${HEAD}${yaml}`, new Map([['dwh', 'postgres']])).warnings.map(
        ({ line, column, rule, message }) => `${line}:${column} ${rule}: ${message}`,
      );
    expect(told(checked)).toEqual([
      '6:13 not-pushed-down: All data is on one connection, and still AUTO means BATCH, not JDBC: "orders" has quality checks, which need its result before the targets are written. "engine: BATCH" says that it is meant.',
    ]);
    expect(told(`${checked}engine: BATCH`)).toEqual([]);
    const elsewhere = within.replace(
      'type: postgres, connection: dwh, table: mart.orders, mode: OVERWRITE',
      'type: file, path: a.csv',
    );
    expect(told(`${elsewhere}timeout: PT1M`)).toEqual([]);
  });
});
