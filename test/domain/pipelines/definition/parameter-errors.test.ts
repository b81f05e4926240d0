import { describe, expect, it } from '@jest/globals';
import { checkParameters, compileDefinition } from '../../../../src/domain/pipelines/index.js';
import { AppError } from '../../../../src/errors.js';
import { HEAD, refused } from './definitions.js';
import { PARAMETERS, VALUES } from './parameter-values.js';

function problems(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { errors, field } = error.details ?? {};
    return errors
      ? (errors as { field: string; message: string }[]).map((each) => [each.field, each.message])
      : [[field, error.message]];
  }
  throw new Error('accepted');
}

const SQL_TASK = (sql: string) => `${HEAD}parameters: [{ id: x, type: STRING }]
source: { id: a, type: mysql, connection: c, query: ${JSON.stringify(sql)} }
transformations: { id: t, type: sql, sql: ${JSON.stringify(sql)} }
target: { id: z, type: file, path: z.csv }
`;

describe('errors', () => {
  it('of names and places come at once, each at the placeholder', () => {
    expect(
      refused(`${HEAD}engine: "{{ params.x }}"
parameters:
  - { id: x, type: STRING }
  - { id: x, type: DATE, default: 2026-02-30 }
  - { id: y, type: INTEGER, default: "{{ params.x }}", allowedValues: [1, two] }
  - { id: w, type: DECIMAL, default: 3, allowedValues: [1, 2] }
  - { id: v, type: TEXT }
source: { id: a, type: inline, rows: [{ "{{ params.x }}": "{{params.q}}" }] }
transformations:
  id: t
  type: sql
  inputs: ["{{ params.x }}"]
  sql: |
    SELECT {{ params.x }}
    FROM a WHERE n = {{ params.q }} AND m = {{ params.q }}
      AND {{ x }} = {{ run.number }} AND {{}}
target: { id: z, type: file, path: z.csv, timeout: "{{ env.HOME.x }}" }
`),
    ).toMatchInlineSnapshot(`
     [
       "3:10 engine: {{ params.x }} cannot stand here: the tasks must be known before a run.",
       "6:11 parameters[1].id: The parameter "x" is declared twice.",
       "6:35 parameters[1].default: The default of "x" must be a date like 2026-11-21.",
       "7:39 parameters[2].default: {{ params.x }}: a default cannot refer to another parameter.",
       "7:75 parameters[2].allowedValues[1]: An allowed value of "y" must be a whole number of 64 bits.",
       "8:38 parameters[3].default: The default of "w" must be one of 1, 2.",
       "9:20 parameters[4].type: type cannot be "TEXT": it must be one of STRING, INTEGER, DECIMAL, BOOLEAN, DATE, TIMESTAMP.",
       "10:41 source.rows[0].{{ params.x }}: {{ params.x }} cannot stand in a name.",
       "10:60 source.rows[0].{{ params.x }}: {{params.q}}: there is no parameter "q".",
       "14:12 transformations.inputs[0]: There is no task "{{ params.x }}".",
       "14:13 transformations.inputs[0]: {{ params.x }} cannot stand here: the tasks must be known before a run.",
       "17:22 transformations.sql: {{ params.q }}: there is no parameter "q".",
       "17:45 transformations.sql: {{ params.q }}: there is no parameter "q".",
       "18:11 transformations.sql: {{ x }}: the name is not known; there are params.<id>, env.<NAME>, run.id, run.startedAt, schedule.date, pipeline.name, workspace.slug.",
       "18:21 transformations.sql: {{ run.number }}: the name is not known; there are params.<id>, env.<NAME>, run.id, run.startedAt, schedule.date, pipeline.name, workspace.slug.",
       "18:42 transformations.sql: {{}}: the name is not known; there are params.<id>, env.<NAME>, run.id, run.startedAt, schedule.date, pipeline.name, workspace.slug.",
       "19:53 target.timeout: {{ env.HOME.x }}: the variable HOME.x is not set, or PIPELINE_ENV_ALLOWED does not name it.",
     ]
    `);
  });

  it.each([
    ["SELECT '{{ params.x }}'", true, true],
    ['SELECT "{{ params.x }}"', true, true],
    ['SELECT 1 -- {{ params.x }}', true, true],
    ['SELECT /* a /* b */ {{ params.x }} */ 1', true, true],
    ['SELECT `{{ params.x }}`', true, false],
    ['SELECT 1 # {{ params.x }}', true, false],
    ["SELECT 'it\\' {{ params.x }}'", true, false],
    ["SELECT E'it\\' {{ params.x }}'", true, true],
    ["SELECT '\\'' {{ params.x }}'", true, true],
    ['SELECT $t$ {{ params.x }} $t$', false, true],
    ["SELECT a$t$, ' $t$ {{ params.x }} '", true, true],
    ['SELECT \'it\'\'s\', {{ params.x }}, "a""b"', false, false],
    ['SELECT /* a */ {{ params.x }} -- b', false, false],
  ])('of quotes: %s', (sql, inMysql, inStandard) => {
    const message = 'cannot stand within quotes or a comment';
    const expected = [...(inMysql ? [4] : []), ...(inStandard ? [5] : [])];
    if (expected.length === 0) {
      expect(compileDefinition(SQL_TASK(sql)).graph.tasks).toHaveLength(3);
      return;
    }
    const found = refused(SQL_TASK(sql)).filter((error) => error.includes(message));
    expect(found.map((error) => Number(error.split(':')[0]))).toEqual(expected);
  });

  it.each(['SELECT `{{ params.x }}`', 'SELECT 1 # {{ params.x }}', 'SELECT $t$ {{ params.x }} $t$'])(
    'of quotes of MySQL and of DuckDB, where the graph may be carried out by either: %s',
    (sql) => {
      const yaml = SQL_TASK(sql)
        .replace(/query: .*\}/, 'table: t }')
        .replace('file, path: z.csv', 'mysql, connection: c, table: u, mode: APPEND');
      expect(refused(yaml)).toEqual([expect.stringMatching(/^5:.*cannot stand within quotes or a comment/)]);
    },
  );

  it('of a variable that a run will not have', () => {
    const yaml = `${HEAD}source: { id: a, type: inline, rows: [{ n: "{{ env.SECRET }}" }] }\ntarget: { id: z, type: file, path: z.csv }`;
    expect(problems(() => compileDefinition(yaml, VALUES))).toEqual([
      [
        'yamlDefinition.source.rows[0].n',
        'line 3, column 45: {{ env.SECRET }}: the variable SECRET is not set, or PIPELINE_ENV_ALLOWED does not name it.',
      ],
    ]);
  });

  it('of what a run was given name the field', () => {
    const { definition } = compileDefinition(
      `${HEAD}${PARAMETERS}  - { id: must, type: INTEGER }\nsource: { id: a, type: inline, rows: [{ n: 1 }] }\ntarget: { id: z, type: file, path: z.csv }`,
    );
    const given = {
      day: '2026-13-01',
      least: 1.5,
      share: 'x',
      strict: 'yes',
      since: 'now',
      tier: 'iron',
      nosuch: 1,
    };
    expect(problems(() => checkParameters(definition, given))).toEqual([
      ['parameters.day', 'parameters.day must be a date like 2026-11-21'],
      ['parameters.least', 'parameters.least must be a whole number of 64 bits'],
      ['parameters.share', 'parameters.share must be a number of at most 38 digits'],
      ['parameters.strict', 'parameters.strict must be true or false'],
      ['parameters.since', 'parameters.since must be an instant like 2026-11-21T06:30:00Z'],
      ['parameters.tier', 'parameters.tier must be one of gold, silver'],
      ['parameters.nosuch', 'parameters.nosuch is no parameter of this pipeline'],
      ['parameters.must', 'parameters.must is required'],
    ]);
    expect(
      checkParameters(definition, {
        must: '9223372036854775807',
        share: '007.50',
        strict: 'false',
        since: '2026-01-01 00:00',
        tier: 'gold',
      }),
    ).toEqual({
      must: '9223372036854775807',
      share: '7.50',
      strict: false,
      since: '2026-01-01T00:00:00.000Z',
      tier: 'gold',
    });
    expect(problems(() => checkParameters(definition, { must: '9223372036854775808' }))).toEqual([
      ['parameters.must', 'parameters.must must be a whole number of 64 bits'],
    ]);
  });

  it('of what a value came to stand at its place', () => {
    const yaml = `${HEAD}parameters:
  - { id: table, type: STRING }
  - { id: keep, type: INTEGER }
  - { id: tier, type: STRING, required: false }
  - { id: day, type: DATE, default: "{{ pipeline.name }}" }
source: { id: a, type: inline, rows: [{ n: "{{ params.tier }}" }] }
transformations: { id: m, type: mask, columns: { n: { method: PARTIAL, keep: "{{ params.keep }}" } } }
target: { id: z, type: postgres, connection: c, table: "{{ params.table }}", mode: APPEND }
`;
    expect(
      problems(() =>
        compileDefinition(yaml, {
          ...VALUES,
          params: { table: '{{ a }}; DROP', keep: 0 },
        }),
      ),
    ).toEqual([
      [
        'yamlDefinition.parameters[3].default',
        'line 7, column 37: The default of "day" must be a date like 2026-11-21.',
      ],
      ['yamlDefinition.source.rows[0].n', 'line 8, column 45: {{ params.tier }} has no value in this run.'],
      ['yamlDefinition.transformations.columns.n.keep', 'line 9, column 78: keep must be >= 1.'],
      [
        'yamlDefinition.target.table',
        'line 10, column 56: "{{ a }}; DROP" is not valid for table: table or schema.table, case as stored.',
      ],
    ]);
  });
});

it('ten thousand placeholders are judged at once', () => {
  const sql = Array.from({ length: 10_000 }, (_, n) => `{{ params.${n % 2 ? 'x' : 'y'} }} + '${n}'`).join(
    ',\n',
  );
  const yaml = `${HEAD}parameters: [{ id: x, type: STRING }]\nsource: { id: a, type: inline, rows: [{ n: 1 }] }\ntransformations: { id: t, type: sql, sql: ${JSON.stringify(sql.slice(0, 99_000))} }\ntarget: { id: z, type: file, path: z.csv }`;
  const begun = performance.now();
  expect(refused(yaml)).toHaveLength(100);
  expect(performance.now() - begun).toBeLessThan(2_000);
});
