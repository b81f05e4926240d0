import { expect, it } from '@jest/globals';
import { parseDefinition } from '../../../../src/domain/pipelines/definition/index.js';
import { HEAD, SMALL } from './definitions.js';

function warnings(yaml: string): string[] {
  const parsed = parseDefinition(yaml, {
    env: {},
    connections: new Map([['erp', 'mysql']]),
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors, null, 1));
  return parsed.warnings.map(
    ({ line, column, rule, path, message }) => `${line}:${column} ${rule} ${path}: ${message}`,
  );
}

it('what is probably not meant is told rule by rule, in the order of the text', () => {
  expect(
    warnings(`${HEAD}contract: { ref: c.yaml, onBreach: WARN }
parameters:
  - { id: idle, type: STRING, required: true, default: x }
source:
  - { id: a, type: postgres, connection: erp, table: t, incremental: { column: at } }
  - { id: b, type: inline, rows: [{ n: 1 }] }
transformations:
  - { id: c, type: sql, inputs: [a], sql: "select x.* from a x" }
  - { id: d, type: filter, inputs: [c], where: n > 1 }
target:
  - { id: u, type: mysql, connection: erp, table: t, mode: UPSERT, keys: [n], input: c }
  - { id: v, type: mysql, connection: dwh, table: t, mode: APPEND, input: c }
  - { id: w, type: mysql, connection: erp, table: t, mode: MERGE, keys: [n], input: c }
`),
  ).toMatchInlineSnapshot(`
   [
     "1:1 no-timeout : Neither the definition nor all its tasks have a "timeout".",
     "3:1 unchecked-contract contract: Contracts are not checked by runs yet.",
     "5:5 unused-parameter parameters[0]: Nothing uses the parameter "idle".",
     "5:47 required-with-default parameters[0].default: "idle" is required, so its default is never used.",
     "7:42 unknown-connection source[0].connection: "erp" is a connection of type mysql, not postgres.",
     "8:5 unused-result source[1]: Nothing reads the result of "b".",
     "10:43 star-into-keyed-target transformations[0].sql: SELECT * decides the columns of the target "u": name them, or its table follows every change of a source.",
     "10:43 star-into-keyed-target transformations[0].sql: SELECT * decides the columns of the target "w": name them, or its table follows every change of a source.",
     "11:5 unused-result transformations[1]: Nothing reads the result of "d".",
     "14:39 unknown-connection target[1].connection: There is no connection "dwh" in the workspace.",
     "14:54 append-of-incremental target[1].mode: "v" appends what an incremental source reads: a row that changed is there twice. UPSERT with keys keeps one.",
     "15:5 incremental-overwrite target[2]: "w" keeps only what the run read, and an incremental source reads only what is new.",
     "15:51 shared-table target[2].table: "w" and "u" (line 13) write one table, which one of them makes what it read itself: not all of both is left.",
   ]
  `);
});

it('a graph without a target, or without an end in time, is one that does nothing for nobody', () => {
  expect(
    warnings(`${HEAD}timeout: PT1M\ntasks: [{ id: a, kind: source, type: inline, rows: [{ n: 1 }] }]`),
  ).toEqual([
    '4:8 no-target tasks: No task is a target: a run writes nothing.',
    '4:9 unused-result tasks[0]: Nothing reads the result of "a".',
  ]);
  expect(warnings(SMALL)).toEqual([
    '1:1 no-timeout : Neither the definition nor all its tasks have a "timeout".',
  ]);
  expect(warnings(`${SMALL}timeout: PT1M`)).toEqual([]);
});

it('nobody who does not ask is warned', () => {
  expect(parseDefinition(SMALL)).toMatchObject({ ok: true, warnings: [] });
});

const HALVES = `${HEAD}timeout: PT1M
source: [{ id: a, type: inline, rows: [{ n: 1 }] }, { id: b, type: inline, rows: [{ n: 2 }] }]
target:
`;
const into = (id: string, input: string, rest: string) =>
  `  - { id: ${id}, type: mysql, connection: erp, input: ${input}, ${rest} }\n`;

it('two targets of one table are told when one takes away what the other wrote', () => {
  const shared = (first: string, second: string) =>
    warnings(HALVES + into('y', 'a', first) + into('z', 'b', second)).filter((told) =>
      told.includes('shared-table'),
    );
  const overwrite = 'table: t, mode: OVERWRITE';
  const append = 'table: t, mode: APPEND';
  const told = [
    '7:61 shared-table target[1].table: "z" and "y" (line 6) write one table, which one of them makes what it read itself: not all of both is left.',
  ];
  expect(shared(overwrite, overwrite)).toEqual(told);
  expect(shared(append, overwrite)).toEqual(told);
  expect(shared(overwrite, append)).toEqual(told);
  expect(shared(append, 'table: t, mode: MERGE, keys: [n]')).toEqual(told);
  expect(shared(overwrite, `${overwrite}, dependsOn: [y]`)).toEqual(told);
  expect(shared(overwrite, `${append}, dependsOn: [y]`)).toEqual([]);
  expect(shared(append, append)).toEqual([]);
  expect(shared(append, 'table: t, mode: MERGE, keys: [n], deleteWhen: gone')).toEqual([]);
  expect(shared(overwrite, 'table: u, mode: OVERWRITE')).toEqual([]);
});

it('tables that are replaced are so one by one, but where one transaction does it', () => {
  const apart = (yaml: string) => warnings(yaml).filter((told) => told.includes('targets-apart'));
  const both = into('y', 'a', 'table: t, mode: OVERWRITE') + into('z', 'b', 'table: u, mode: OVERWRITE');
  expect(apart(HALVES + both)).toEqual([
    '7:5 targets-apart target[1]: Each table is replaced whole or not at all, but not all together: where "z" fails, "y" may be new already.',
  ]);
  expect(apart(HALVES + both.replace('OVERWRITE', 'APPEND'))).toEqual([]);
  const within = (HALVES + both).replace(
    /type: inline, rows: \[.*?\]/g,
    'type: mysql, connection: erp, table: s',
  );
  expect(apart(within)).toEqual([]);
  expect(apart(`${within}engine: BATCH`)).toHaveLength(1);
});

it('SQL that does not name an input is told, but not of what it only waits for', () => {
  const unread = (transformation: string) =>
    warnings(`${HEAD}timeout: PT1M
tasks:
  - { id: a, kind: source, type: inline, rows: [{ n: 1 }] }
  - { id: b, kind: source, type: inline, rows: [{ n: 1 }] }
  - { id: c, kind: transformation, type: sql, ${transformation} }
  - { id: z, kind: target, type: file, path: z.csv, input: c }`).filter((told) =>
      told.includes('unread-input'),
    );
  expect(unread('inputs: [a, b], sql: SELECT * FROM "A"')).toEqual([
    '7:59 unread-input tasks[2].inputs[1]: The SQL of "c" does not name its input "b".',
  ]);
  expect(unread('dependsOn: [a, b], sql: SELECT * FROM a')).toEqual([]);
});

it('braces that begin no placeholder are told where text stands, not in code', () => {
  const told = (path: string) =>
    warnings(`${SMALL.replace('path: z.csv', `path: "${path}.csv"`)}timeout: PT1M`);
  const message = 'There is a "{{" that begins no placeholder: it stays as it is.';
  expect(told('{{ run.id }')).toEqual([`4:36 unclosed-placeholder target.path: ${message}`]);
  expect(told('{{ run.id }}')).toEqual([]);
  const code = 'transformations: { id: t, type: javascript, code: "if (1) {{ a = {} }}" }';
  expect(warnings(`${SMALL}${code}\ntimeout: PT1M`)).toEqual([]);
});
