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
