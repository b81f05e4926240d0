import { describe, expect, it } from '@jest/globals';
import { HEAD, refused } from './definitions.js';

const A = `${HEAD}source: { id: a, type: inline, rows: [{ n: 1 }] }\n`;
const Z = '\ntarget: { id: z, type: file, path: z.csv, input: a }';

/** What is wrong with a source in line 3. */
const SOURCES: [string, string, string[]][] = [
  [
    'neither table nor query',
    '{ id: a, type: mysql, connection: c }',
    ['3:9 source: A mysql source has either "table" or "query".'],
  ],
  [
    'an incremental column without a type',
    '{ id: a, type: file, path: a.csv, incremental: { column: at }, columns: { n: BIGINT } }',
    ['3:66 source.incremental.column: The type of the incremental column "at" must be given in "columns".'],
  ],
  [
    'a quarantine without types',
    '{ id: a, type: file, path: a.csv, quarantine: { maxShare: 2 } }',
    [
      '3:43 source.quarantine: "quarantine" needs "columns": the types that a value has to cast to.',
      '3:67 source.quarantine.maxShare: maxShare must be <= 1.',
    ],
  ],
  [
    'a quarantine of JSON',
    '{ id: a, type: file, path: a.json, quarantine: { maxShare: 0.5 } }',
    ['3:44 source.quarantine: "quarantine" does not apply to json.'],
  ],
  [
    'paging of an unknown kind',
    '{ id: a, type: http, connection: c, path: /, paging: { kind: pages } }',
    ['3:64 source.paging.kind: kind cannot be "pages": it must be one of page, offset, cursor, link.'],
  ],
  [
    'an offset without a size, and a pointer that is none',
    '{ id: a, type: http, connection: c, path: /, rows: data, paging: { kind: offset, parameter: o } }',
    [
      '3:60 source.rows: "data" is not valid for rows: a JSON Pointer (RFC 6901) to the list of rows in an answer; the answer itself when absent.',
      '3:74 source.paging: "size" is missing.',
    ],
  ],
  [
    'increments of http without a parameter',
    '{ id: a, type: http, connection: c, path: /, incremental: { column: at } }',
    ['3:67 source.incremental: "parameter" is missing.'],
  ],
  [
    'a topic that is none',
    '{ id: a, type: kafka, connection: c, topic: "a b" }',
    [
      '3:18 source.type: "a" never ends, and the engine STREAM is not supported yet.',
      '3:53 source.topic: "a b" is not valid for topic: letters, digits, dots, underscores and hyphens, at most 249.',
    ],
  ],
];

/** What is wrong with a transformation in line 4. */
const TRANSFORMATIONS: [string, string, string[]][] = [
  [
    'a filter of two',
    '{ id: t, type: filter, inputs: [a, b], where: n }',
    ['4:49 transformations.inputs: A filter has one input; "t" has 2 (a, b).'],
  ],
  [
    'a join of one',
    '{ id: t, type: join, inputs: [a], on: [n] }',
    ['4:47 transformations.inputs: A join has two inputs, the left one first; "t" has 1 (a).'],
  ],
  [
    'a join by nothing',
    '{ id: t, type: join, inputs: [a, b] }',
    ['4:18 transformations: A join needs "on" (or how: CROSS).'],
  ],
  [
    'a cross join by something',
    '{ id: t, type: join, inputs: [a, b], how: CROSS, on: [n] }',
    ['4:67 transformations.on: A CROSS join has no "on".'],
  ],
  [
    'a cast to no type',
    '{ id: t, type: cast, inputs: [a], columns: { n: NUMBER } }',
    [
      expect.stringMatching(
        /^4:66 transformations.columns.n: "NUMBER" is not valid for n: BOOLEAN, /,
      ) as unknown as string,
    ],
  ],
  [
    'more decimal places than digits',
    '{ id: t, type: cast, inputs: [a], columns: { n: "DECIMAL(3,9)", m: "DECIMAL(9,9)" } }',
    ['4:66 transformations.columns.n: DECIMAL(3,9) has more decimal places than digits.'],
  ],
  [
    'two columns that differ by case alone',
    '{ id: t, type: javascript, inputs: [a], code: "function transform(row) { return row }", columns: { n: DATE, N: DATE } }',
    [
      expect.stringMatching(
        /^4:\d+ transformations.columns.N: "n" and "N" are one column\.$/,
      ) as unknown as string,
    ],
  ],
  [
    'a quarantine that is not asked for',
    '{ id: t, type: cast, inputs: [a], columns: { n: DATE }, quarantine: { maxShare: 0 } }',
    ['4:74 transformations.quarantine: "quarantine" applies to onError QUARANTINE only.'],
  ],
  [
    'a quarantine without a share',
    '{ id: t, type: cast, inputs: [a], columns: { n: DATE }, onError: QUARANTINE }',
    ['4:83 transformations.onError: QUARANTINE needs "quarantine: { maxShare }".'],
  ],
  [
    'two columns of one new name',
    '{ id: t, type: rename, inputs: [a], columns: { n: x, m: X } }',
    ['4:74 transformations.columns.m: "m" and "n" cannot both be named "X".'],
  ],
  [
    'a measure named as a group',
    '{ id: t, type: aggregate, inputs: [a], groupBy: [N], measures: { n: count(*) } }',
    ['4:83 transformations.measures.n: "n" is a column of "groupBy" as well.'],
  ],
  [
    'an unknown way to mask',
    '{ id: t, type: mask, inputs: [a], columns: { n: { method: BLUR } } }',
    [
      '4:68 transformations.columns.n.method: method cannot be "BLUR": it must be one of NULL, REDACT, HASH, PARTIAL.',
    ],
  ],
  ['no code', '{ id: t, type: javascript, inputs: [a] }', ['4:18 transformations: "code" is missing.']],
  [
    'no keys',
    '{ id: t, type: deduplicate, inputs: [a], keys: [] }',
    ['4:65 transformations.keys: keys is empty.'],
  ],
];

const TARGETS: [string, string, string[]][] = [
  [
    'MERGE without keys',
    '{ id: z, type: mysql, connection: c, table: t, mode: MERGE }',
    ['4:56 target.mode: MERGE needs "keys".'],
  ],
  [
    'deleteWhen without MERGE',
    '{ id: z, type: postgres, connection: c, table: t, mode: UPSERT, keys: [n], deleteWhen: gone }',
    ['4:84 target.deleteWhen: "deleteWhen" applies to the mode MERGE only.'],
  ],
  ...['opsgraph_staging', 'shop.opsgraph_load', 'OPSGRAPH.load'].map((table): [string, string, string[]] => [
    `the table ${table}`,
    `{ id: z, type: mysql, connection: c, mode: APPEND, table: ${table} }`,
    [`4:67 target.table: "${table}" is a name that loads use themselves.`],
  ]),
  [
    'a file that is upserted',
    '{ id: z, type: file, path: z.csv, mode: UPSERT }',
    ['4:49 target.mode: mode cannot be "UPSERT": it must be one of OVERWRITE, APPEND.'],
  ],
];

/** What is wrong with a check in line 4. */
const CHECKS: [string, string, string[]][] = [
  [
    'of a task that is not there',
    '{ on: nosuch, type: notNull, column: n }',
    ['4:16 quality.on: There is no task "nosuch".'],
  ],
  [
    'of a target',
    '{ on: z, type: notNull, column: n }',
    ['4:16 quality.on: "z" is a target: a check is tried on a source or a transformation.'],
  ],
  [
    'of an unknown kind',
    '{ on: a, type: positive, column: n }',
    [
      expect.stringMatching(
        /^4:19 quality.type: type cannot be "positive": it must be one of notNull, unique, /,
      ) as unknown as string,
    ],
  ],
  ['without bounds', '{ on: a, type: rowCount }', ['4:10 quality: rowCount needs "min", "max" or both.']],
  [
    'with bounds the wrong way round',
    '{ on: a, type: range, column: n, min: 2, max: 1 }',
    ['4:48 quality.min: "min" is greater than "max".'],
  ],
  [
    'with a pattern of another language',
    '{ on: a, type: regex, column: n, pattern: "(?=a)" }',
    ['4:52 quality.pattern: The pattern cannot look around or refer back: the engine speaks RE2.'],
  ],
  [
    'with an age that is none',
    '{ on: a, type: freshness, column: n, maxAge: 1 day }',
    [
      expect.stringMatching(
        /^4:55 quality.maxAge: "1 day" is not valid for maxAge: an ISO 8601 duration/,
      ) as unknown as string,
    ],
  ],
  [
    'with a reference to nothing',
    '{ on: a, type: referential, column: n, references: { task: q, column: n } }',
    ['4:69 quality.references.task: There is no task "q".'],
  ],
  [
    'with a severity of its own',
    '{ on: a, type: notNull, column: n, severity: FATAL }',
    ['4:55 quality.severity: severity cannot be "FATAL": it must be one of ERROR, WARNING.'],
  ],
];

describe('errors of each kind', () => {
  it.each(SOURCES)('source: %s', (_, yaml, errors) => {
    expect(refused(`${HEAD}source: ${yaml}${Z}`)).toEqual(errors);
  });

  it.each(TRANSFORMATIONS)('transformation: %s', (_, yaml, errors) => {
    const two = `${HEAD}source: [{ id: a, type: inline, rows: [{ n: 1 }] }, { id: b, type: inline, rows: [{ n: 1 }] }]\n`;
    expect(refused(`${two}transformations: ${yaml}${Z}`)).toEqual(errors);
  });

  it.each(TARGETS)('target: %s', (_, yaml, errors) => {
    expect(refused(`${A}target: ${yaml}`)).toEqual(errors);
  });

  it.each(CHECKS)('check %s', (_, yaml, errors) => {
    expect(refused(`${A}quality: ${yaml}${Z}`)).toEqual(errors);
  });

  it('a check that reads what waits for it', () => {
    expect(
      refused(`${A}transformations: { id: t, type: sql, sql: FROM a }
quality: [{ on: a, type: referential, column: n, references: { task: t, column: n } }]${Z}`),
    ).toEqual([
      '4:18 transformations: "t" waits for itself: a -> t -> a.',
      '5:70 quality[0].references.task: "a" waits for itself: a -> t -> a.',
    ]);
  });
});
