import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkParameters, compileDefinition } from '../../../../src/domain/pipelines/index.js';
import { HEAD } from './definitions.js';
import { PARAMETERS, VALUES } from './parameter-values.js';

function bound(rest: string, params: Record<string, unknown> = {}) {
  const { graph } = compileDefinition(`${HEAD}${PARAMETERS}${rest}`, {
    ...VALUES,
    params,
  });
  return Object.fromEntries(
    graph.tasks.map(({ id, spec }) => [id, spec as unknown as Record<string, unknown>]),
  );
}

/** What a value becomes in a statement. */
function inSql(placeholder: string, params?: Record<string, unknown>): unknown {
  const yaml = `source: { id: a, type: inline, rows: [{ n: 1 }] }\ntransformations: { id: t, type: sql, sql: "x {{ ${placeholder} }} y" }\ntarget: { id: z, type: file, path: z.csv }`;
  return String(bound(yaml, params)['t']?.['sql']).slice(2, -2);
}

describe('a placeholder', () => {
  it.each([
    ['params.day', "DATE '2026-11-20'"],
    ['params.name', "'O''Hara'"],
    ['params.least', '(-5)'],
    ['params.share', '0.25'],
    ['params.strict', 'TRUE'],
    ['params.since', "TIMESTAMP '2026-01-01 00:00:00.000'"],
    ['params.tier', 'NULL'],
    ['run.id', "'01a1fb3c-6ba4-7748-a964-b27f88c25ee9'"],
    ['run.startedAt', "TIMESTAMP '2026-11-21 06:00:00.000'"],
    ['schedule.date', "DATE '2026-11-20'"],
    ['pipeline.name', "'orders'"],
    ['workspace.slug', "'default'"],
    ['env.REGION', "'eu'"],
  ])('%s is a literal of SQL: %s', (placeholder, literal) => {
    expect(inSql(placeholder)).toBe(literal);
  });

  it('is a literal wherever SQL or code stands, a value of its own where it stands alone, and text in text', () => {
    const specs = bound(
      `source:
  - { id: a, type: http, connection: c, path: "/days/{{ params.day }}", query: { least: "{{ params.least }}", tag: "a {{params.least}}" }, maxPages: "{{ params.pages }}" }
  - { id: m, type: mysql, connection: c, query: "SELECT * FROM t WHERE n = {{ params.name }}", incremental: { column: n, initial: "{{ params.least }}" } }
  - { id: i, type: inline, rows: [{ sql: "{{ params.name }}", share: "{{ params.share }}", strict: "{{ params.strict }}" }] }
transformations:
  - { id: f, type: filter, inputs: [a], where: "day = {{ params.day }}" }
  - { id: d, type: deduplicate, inputs: [f], keys: [n], orderBy: ["n = {{ params.name }}"] }
  - { id: g, type: aggregate, inputs: [d], measures: { n: "sum({{ params.share }})" } }
  - { id: j, type: javascript, inputs: [g], code: "function transform(row) { return { n: {{ params.name }}, l: {{ params.least }}, t: {{ params.tier }} }; }" }
target:
  - { id: z, type: file, input: j, path: "out/{{ workspace.slug }}/{{ env.REGION }}.csv" }
  - { id: w, type: mysql, input: i, connection: "{{ params.name }}", table: "mart.t_{{ params.pages }}", mode: MERGE, keys: [n], deleteWhen: "n = {{ params.name }}", widen: "{{ params.strict }}" }
`.replace(/^/, '  - { id: pages, type: INTEGER }\n'),
      { pages: 7, name: "a'b\\c" },
    );
    expect(specs['a']).toMatchObject({
      path: '/days/2026-11-20',
      query: { least: -5, tag: 'a -5' },
      maxPages: 7,
    });
    expect(specs['m']).toMatchObject({
      query: "SELECT * FROM t WHERE n = concat('a''b', _utf8mb4 x'5c', 'c')",
      incremental: { initial: -5 },
    });
    expect(specs['i']?.['rows']).toEqual([{ sql: "a'b\\c", share: 0.25, strict: true }]);
    expect(specs['f']?.['where']).toBe("day = DATE '2026-11-20'");
    expect(specs['d']?.['orderBy']).toEqual(["n = ('a''b' || chr(92) || 'c')"]);
    expect(specs['g']?.['measures']).toEqual({ n: 'sum(0.25)' });
    expect(specs['j']?.['code']).toBe(
      'function transform(row) { return { n: "a\\u0027b\\u005cc", l: (-5), t: null }; }',
    );
    expect(specs['z']?.['path']).toBe('out/default/eu.csv');
    expect(specs['w']).toMatchObject({
      connection: "a'b\\c",
      table: 'mart.t_7',
      deleteWhen: "n = ('a''b' || chr(92) || 'c')",
      widen: true,
    });
  });

  it('cannot leave its literal, whatever its value is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        fc.pre(name.isWellFormed() && !name.includes('\0'));
        const literal = String(inSql('params.name', { name }));
        // One text, or texts without a backslash joined by chr(92): as a standard server and as MySQL reads it.
        expect(literal).not.toContain('\\');
        const parts = literal.replace(/^\((.*)\)$/s, '$1').split(' || chr(92) || ');
        if (!name.includes(' || chr(92) || ')) {
          for (const part of parts) expect(part).toMatch(/^'(?:[^']|'')*'$/s);
          const read = parts.map((part) => part.slice(1, -1).replaceAll("''", "'"));
          expect(read.join('\\')).toBe(name);
        }
      }),
    );
  });

  it('is a text that MySQL and DuckDB read alike, where either may', () => {
    const specs = bound(
      `source: { id: a, type: mysql, connection: c, table: t }
transformations: { id: f, type: filter, where: "n = {{ params.name }}" }
target: { id: w, type: mysql, connection: c, table: u, mode: APPEND }`,
      { name: "a'b\\" },
    );
    expect(specs['f']?.['where']).toBe("n = 'a''b\\'");
  });

  it('is text again where a number was put and only text will do', () => {
    const specs = bound(
      'source: { id: a, type: file, format: csv, path: "{{ params.least }}" }\ntarget: { id: z, type: file, path: z.csv }',
    );
    expect(specs['a']?.['path']).toBe('-5');
  });

  it('stands where it is written as long as there is no run', () => {
    const yaml = `${HEAD}${PARAMETERS}source: { id: a, type: http, connection: c, path: /, maxPages: "{{ params.least }}" }
target: { id: z, type: postgres, connection: c, table: "t_{{ env.ANY }}", mode: APPEND, timeout: "{{ params.name }}" }`;
    const { graph, definition } = compileDefinition(yaml);
    expect(graph.engine).toBe('BATCH');
    expect(graph.tasks.map(({ spec }) => spec)).toMatchObject([
      { maxPages: '{{ params.least }}' },
      { table: 't_{{ env.ANY }}' },
    ]);
    expect(definition.parameters).toHaveLength(7);
    expect(definition.parameters[0]).toEqual({
      id: 'day',
      type: 'DATE',
      required: false,
      default: '{{ schedule.date }}',
    });
  });
});

describe('a value', () => {
  it.each([
    [1e-7, '0.0000001'],
    ['1.50e3', '1500'],
    ['-12.5E-3', '(-0.0125)'],
    ['1e+2', '100'],
    ['-0e5', '0'],
    [1e21, '1000000000000000000000'],
    [1.5e-10, '0.00000000015'],
    ['0012.340', '12.340'],
    ['.5', '0.5'],
  ])('%p of a DECIMAL is %s', (share, literal) => {
    expect(inSql('params.share', { share })).toBe(literal);
  });

  it.each(['', '.', 'e5', '1e', '1e38', '1e-39', '1e999', 5e-324, '1e5.5', '0x10', Number.MAX_VALUE])(
    '%p is no DECIMAL of 38 digits',
    (share) => expect(() => inSql('params.share', { share })).toThrow(),
  );

  it.each([
    ['2026-01-01T10:00:00.123456Z', '2026-01-01 10:00:00.123456'],
    ['2026-01-01T10:00:00.123000+01:00', '2026-01-01 09:00:00.123'],
    ['2026-01-01T10:00:00.0001', '2026-01-01 10:00:00.000100'],
    ['2026-01-01 10:00:59.9', '2026-01-01 10:00:59.900'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31 23:59:59.999999'],
  ])('%s of a TIMESTAMP keeps its microseconds: %s', (since, told) => {
    expect(inSql('params.since', { since })).toBe(`TIMESTAMP '${told}'`);
  });

  it('of more than six digits of a second, or of none, is no TIMESTAMP', () => {
    for (const since of ['2026-01-01T10:00:00.1234567Z', '2026-01-01T10:00:00.Z', '2026-01-01T10:00.5Z'])
      expect(() => inSql('params.since', { since })).toThrow();
  });

  it('is kept exactly by a run that holds it as JSON', () => {
    for (const [id, value, literal] of [
      ['least', '1000000000000000000', '1000000000000000000'],
      ['share', 1e21, '1000000000000000000000'],
      ['share', '0.10', '0.10'],
      ['share', '12345678901234567890.123', '12345678901234567890.123'],
    ] as const) {
      const { definition } = compileDefinition(
        `${HEAD}${PARAMETERS}source: { id: a, type: inline, rows: [{ n: 1 }] }\ntarget: { id: z, type: file, path: z.csv }`,
      );
      const kept = JSON.parse(JSON.stringify(checkParameters(definition, { [id]: value })));
      expect(inSql(`params.${id}`, kept)).toBe(literal);
    }
  });

  it('that is null is one that was not given', () => {
    expect(inSql('params.tier', { tier: null })).toBe('NULL');
    expect(inSql('params.least', { least: null })).toBe('(-5)');
    const { definition } = compileDefinition(
      `${HEAD}parameters: [{ id: must, type: INTEGER }, { id: may, type: DATE, required: false }]\nsource: { id: a, type: inline, rows: [{ n: 1 }] }\ntarget: { id: z, type: file, path: z.csv }`,
    );
    expect(checkParameters(definition, { must: 1, may: null })).toEqual({ must: 1 });
    expect(() => checkParameters(definition, { must: null })).toThrow('parameters.must is required');
    expect(() => checkParameters(definition, { must: 1, other: null })).toThrow('other is no parameter');
  });

  it('may belong to a parameter named like what every object has', () => {
    const yaml = `${HEAD}parameters: [{ id: constructor, type: STRING, default: x }, { id: __proto__, type: STRING, default: y }]
source: { id: a, type: inline, rows: [{ c: "{{ params.constructor }}", p: "{{ params.__proto__ }}" }] }
target: { id: z, type: file, path: z.csv }`;
    const rows = (params: Record<string, unknown>) =>
      compileDefinition(yaml, { ...VALUES, params }).graph.tasks[0]?.spec as unknown as { rows: unknown };
    expect(rows({}).rows).toEqual([{ c: 'x', p: 'y' }]);
    expect(rows(JSON.parse('{ "constructor": "1", "__proto__": "2" }')).rows).toEqual([{ c: '1', p: '2' }]);
  });
});
