import { expect, it } from '@jest/globals';
import { chooseEngine } from '../../../../src/domain/pipelines/definition/index.js';
import type { TaskSpec } from '../../../../src/engines/task-spec.js';

const table = (connection: string): TaskSpec => ({
  kind: 'source',
  type: 'postgres',
  connection,
  table: 't',
});
const target = (connection: string): TaskSpec => ({
  kind: 'target',
  type: 'postgres',
  connection,
  table: 't',
  mode: 'APPEND',
});
const file: TaskSpec = { kind: 'source', type: 'file', path: 'a.csv', format: 'csv' };
const stream = { kind: 'source', type: 'kafka', topic: 't' } as unknown as TaskSpec;

it.each([
  ['AUTO over files', 'AUTO', [file, target('a')], { ok: true, engine: 'BATCH' }],
  [
    'AUTO within one connection, as long as there is no JDBC',
    'AUTO',
    [table('a'), target('a')],
    { ok: true, engine: 'BATCH' },
  ],
  ['BATCH when told so', 'BATCH', [table('a'), target('a')], { ok: true, engine: 'BATCH' }],
  [
    'AUTO with a source that never ends',
    'AUTO',
    [stream, target('a')],
    { ok: false, message: 'The engine STREAM is not supported yet.' },
  ],
  [
    'JDBC when told so',
    'JDBC',
    [table('a'), target('a')],
    { ok: false, message: 'The engine JDBC is not supported yet.' },
  ],
] as const)('%s', (_, requested, specs, choice) => {
  expect(chooseEngine(requested, specs)).toEqual(choice);
});
