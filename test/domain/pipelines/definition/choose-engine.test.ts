import { describe, expect, it } from '@jest/globals';
import { parseDefinition } from '../../../../src/domain/pipelines/definition/index.js';

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

  it('is not there yet for a source that never ends', () => {
    const kafka = `source: { id: k, type: kafka, connection: bus, topic: t, format: json }\ntarget: ${out}\n`;
    expect(choiceOf(kafka)).toContain('STREAM is not supported yet.');
    expect(choiceOf(`${within}engine: STREAM`)).toBe('5: The engine STREAM is not supported yet.');
  });
});
