import { describe, expect, it } from '@jest/globals';
import { parseDefinition } from '../../../../src/domain/pipelines/definition/index.js';
import { HEAD, refused, SMALL } from './definitions.js';

describe('errors of a definition', () => {
  it('come all at once, with line and column', () => {
    expect(
      refused(`apiVersion: v2
nme: x
engine: SPARK
quality: [{on: nosuch, type: notNull}]
timeout: 1h
source:
  - {id: orders, type: file, path: orders.dat, incremental: {column: x}}
  - {id: ORDERS, type: mysql}
  - {id: 9x, type: file, path: a.csv}
  - type: file
  - 7
transformations:
  - {id: a, type: sql, inputs: [b], sql: "select 1"}
  - {id: b, type: sql, inputs: [a, nosuch], sql: "select {{ params.x }}"}
  - {id: c, type: filter, inputs: [out]}
target: {id: out, type: postgres, connection: w, table: "a.b.c", mode: MERGE, input: b}
`),
    ).toMatchInlineSnapshot(`
     [
       "1:1 : "name" is missing.",
       "1:13 apiVersion: apiVersion cannot be "v2": it must be v1.",
       "2:1 nme: Unknown key "nme".",
       "3:9 engine: engine cannot be "SPARK": it must be one of AUTO, BATCH, STREAM, JDBC.",
       "4:11 quality[0]: "column" is missing.",
       "4:16 quality[0].on: There is no task "nosuch".",
       "5:10 timeout: "1h" is not valid for timeout: an ISO 8601 duration in weeks, days, hours, minutes and seconds, for example PT1H30M.",
       "7:36 source[0].path: The format of "orders.dat" is not clear from its ending: add "format".",
       "8:5 source[1]: "connection" is missing.",
       "8:5 source[1]: A mysql source has either "table" or "query".",
       "8:10 source[1].id: The id "ORDERS" is already used in line 7 (case does not distinguish ids).",
       "9:10 source[2].id: "9x" is not valid for id: a letter or underscore, then up to 62 letters, digits or underscores.",
       "10:5 source[3]: "id" is missing.",
       "10:5 source[3]: "path" is missing.",
       "11:5 source[4]: Entry 5 must be a map.",
       "13:33 transformations[0].inputs[0]: "a" waits for itself: a -> b -> a.",
       "14:33 transformations[1].inputs[0]: "b" waits for itself: a -> b -> a.",
       "14:36 transformations[1].inputs[1]: There is no task "nosuch".",
       "14:58 transformations[1].sql: {{ params.x }}: there is no parameter "x".",
       "15:5 transformations[2]: "where" is missing.",
       "15:36 transformations[2].inputs[0]: "out" is a target and cannot be read from.",
       "16:57 target.table: "a.b.c" is not valid for table: table or schema.table, case as stored.",
       "16:66 target.mode: MERGE needs "keys".",
     ]
    `);
  });

  it.each<[string, string, string[]]>([
    ['no text', '', ['1:1 : The definition must be a map.']],
    ['a list', '- 1', ['1:1 : The definition must be a map.']],
    [
      'broken YAML',
      'a: [1',
      ['1:6 : YAML: Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ],
    [
      'a custom tag and a key given twice',
      'a: !foo 1\na: 2',
      ['1:4 : YAML: Unresolved tag: !foo', '2:1 : The key "a" stands here twice.'],
    ],
    [
      'two documents',
      'a: 1\n---\nb: 2',
      ['2:1 : YAML: Source contains multiple documents; please use YAML.parseAllDocuments()'],
    ],
    ['deep nesting', '['.repeat(100_000), ['1:1 : The definition is nested too deeply.']],
    ['too much text', `# ${'x'.repeat(1024 * 1024)}`, ['1:1 : The definition is larger than 1 MiB.']],
    [
      'a number too large to be exact',
      `${SMALL}description: 12345678901234567890`,
      ['5:14 : 12345678901234567890 is too large for an exact number: put it in quotes.'],
    ],
    [
      'neither form',
      HEAD,
      [
        '1:1 : "source" is missing (or write the graph under "tasks").',
        '1:1 : "target" is missing (or write the graph under "tasks").',
      ],
    ],
    [
      'both forms',
      `${SMALL}tasks: [{ id: q, kind: source, type: inline, rows: [{ a: 1 }] }]`,
      [
        '3:1 source: "source" and "tasks" cannot stand together.',
        '4:1 target: "target" and "tasks" cannot stand together.',
      ],
    ],
    [
      'a target without input',
      `${HEAD}tasks: [{ id: z, kind: target, type: file, path: z.csv }]`,
      ['3:9 tasks[0]: The target "z" has no input: name one with "input".'],
    ],
    [
      'a target of two sources',
      `${HEAD}source: [{ id: a, type: file, path: a.csv }, { id: b, type: file, path: b.csv }]\ntarget: { id: z, type: file, path: z.csv }`,
      ['4:9 target: The target "z" could read a or b: name one with "input".'],
    ],
    [
      'both table and query',
      `${HEAD}source: { id: a, type: postgres, connection: c, table: t, query: q }\ntarget: { id: z, type: file, path: z.csv }`,
      ['3:9 source: A postgres source has either "table" or "query".'],
    ],
    [
      'UPSERT without keys',
      `${HEAD}source: { id: a, type: file, path: a.csv }\ntarget: { id: z, type: postgres, connection: c, table: t, mode: UPSERT }`,
      ['4:59 target.mode: UPSERT needs "keys".'],
    ],
    [
      'keys without UPSERT',
      `${HEAD}source: { id: a, type: file, path: a.csv }\ntarget: { id: z, type: postgres, connection: c, table: t, mode: APPEND, keys: [a] }`,
      ['4:73 target.keys: "keys" applies to the modes UPSERT and MERGE only.'],
    ],
    [
      'options of another format',
      `${HEAD}source: { id: a, type: file, path: a.parquet, csv: { header: true }, columns: { a: DATE } }\ntarget: { id: z, type: file, path: z.json }`,
      [
        '3:47 source.csv: "csv" does not apply to parquet.',
        '3:70 source.columns: A Parquet file brings its own column types.',
        '4:36 target.path: A target can be csv, ndjson or parquet, not json.',
      ],
    ],
    [
      'a timeout of nothing and one of a year',
      `${SMALL}timeout: PT0S\nretry: { maxAttempts: 1, interval: P9999W }`,
      [
        '5:10 timeout: timeout must be longer than nothing.',
        '6:36 retry.interval: interval can be 7 days at most.',
      ],
    ],
    [
      'a task that waits for itself',
      `${HEAD}source: { id: a, type: file, path: a.csv, dependsOn: [a] }\ntarget: { id: z, type: file, path: z.csv, input: a }`,
      ['3:55 source.dependsOn[0]: "a" waits for itself: a -> a.'],
    ],
    [
      'a transformation that waits for a target',
      `${HEAD}source: { id: a, type: file, path: a.csv }\ntransformations: { id: b, type: sql, inputs: [a], dependsOn: [z], sql: FROM a }\ntarget: { id: z, type: file, path: z.csv, input: a }`,
      [
        '4:63 transformations.dependsOn[0]: "b" waits for the target "z"; only a target can wait for a target.',
      ],
    ],
  ])('of %s', (_, yaml, errors) => {
    expect(refused(yaml)).toEqual(errors);
  });

  it('mark the place of an alias, and stop a bomb of them', () => {
    expect(
      refused(
        `${HEAD}source: &s { id: a, type: file, path: a.csv, extra: 1 }\ntarget: { id: z, type: file, path: z.csv }`,
      ),
    ).toEqual(['3:46 source.extra: Unknown key "extra".']);
    const levels = Array.from(
      { length: 12 },
      (_, level) => `a${level + 1}: &a${level + 1} [${Array(9).fill(`*a${level}`).join(',')}]`,
    );
    expect(refused(`a0: &a0 [x]\n${levels.join('\n')}`)).toEqual([
      '1:1 : The definition uses more aliases than are allowed.',
    ]);
  });

  it('are at most a hundred', () => {
    expect(refused(`${HEAD}tasks: [${'1,'.repeat(500)}]`)).toHaveLength(100);
  });
});

describe('two targets that overwrite one file', () => {
  const twice = (first: string, second: string) => `${HEAD}source: { id: a, type: inline, rows: [{ n: 1 }] }
target:
  - { id: y, type: file, ${first} }
  - { id: z, type: file, ${second} }`;

  it.each(['path: out.csv', 'connection: lake, path: out.csv', 'path: "{{ schedule.date }}.csv"'])(
    'are refused: %s',
    (place) => {
      expect(refused(twice(place, `mode: OVERWRITE, ${place}`))).toEqual([
        expect.stringMatching(
          /^6:\d+ target\[1\]\.path: "z" overwrites the file of "y" \(line 5\): only the last one's rows would be left\.$/,
        ),
      ]);
    },
  );

  it.each([
    ['path: out.csv', 'path: other.csv'],
    ['path: out.csv', 'connection: lake, path: out.csv'],
    ['path: out, format: csv, mode: APPEND', 'path: out, format: csv, mode: APPEND'],
  ])('are not, where they are two or add: %s, %s', (first, second) => {
    expect(parseDefinition(twice(first, second)).ok).toBe(true);
  });
});

describe('YAML that means to do harm', () => {
  const rows = (value: string) =>
    `${HEAD}source: { id: a, type: inline, rows: ${value} }\ntarget: { id: z, type: file, path: z.csv }\n`;

  it.each([
    ['an alias of itself', rows('&r [{ n: *r }]'), ['3:47 : "*r" stands within what it stands for.']],
    ['an alias of nothing', rows('[{ n: *r }, &r { n: 1 }]'), ['3:44 : There is no "&r" before this.']],
    [
      'a merge key',
      rows('[{ <<: { n: 1 } }]'),
      ['3:41 : YAML 1.2 has no merge keys: write out what "<<" stands for.'],
    ],
    ['an escaped U+0000', rows('[{ n: "a\\0" }]'), ['3:44 : The character U+0000 cannot be used.']],
    ['half a character', rows('[{ "\\uD800": 1 }]'), ['3:41 : Half of a surrogate pair is no character.']],
    [
      'aliases of much',
      rows(`[{ r: &r [${'1,'.repeat(60_000)}] }, ${'{ r: *r },'.repeat(20)}]`),
      ['1:1 : The definition has too many values, with those its aliases repeat.'],
    ],
    [
      'a mark of byte order before an error',
      `\uFEFFbad: 1\n${rows('[{ n: 1 }]')}`,
      ['1:1 bad: Unknown key "bad".'],
    ],
  ])('%s', (_, yaml, errors) => {
    expect(refused(yaml)).toEqual(errors);
  });

  it('is told where it is nested too deeply, and not for what is merely deep', () => {
    const nested = (depth: number) => rows(`[{ n: ${'['.repeat(depth)}${']'.repeat(depth)} }]`);
    expect(parseDefinition(nested(100)).ok).toBe(true);
    expect(refused(nested(300))).toEqual([
      expect.stringMatching(/^3:\d{3} : The definition is nested too deeply\.$/),
    ]);
  });

  it('has no more work in it than its length: 30,000 unknown keys took half a minute', () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}: 1\n`).join('');
    const begin = process.cpuUsage();
    expect(refused(SMALL + keys)).toHaveLength(100);
    expect(process.cpuUsage(begin).user).toBeLessThan(10_000_000);
  });
});
