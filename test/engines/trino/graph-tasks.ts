import type { GraphTask } from '../../../src/engines/engine.js';
import type { TaskSpec } from '../../../src/engines/task-spec.js';

export function task(id: string, spec: object, inputs: string[] = []): GraphTask {
  return { id, spec: spec as TaskSpec, inputs, dependsOn: inputs };
}

export const source = (id: string, more: object = { table: id }) =>
  task(id, { kind: 'source', type: 'postgres', connection: 'shop', ...more });

export const transform = (id: string, spec: object, inputs: string[]) =>
  task(id, { kind: 'transformation', ...spec }, inputs);

export const target = (input: string, more: object = {}) =>
  task(
    'out',
    { kind: 'target', type: 'postgres', connection: 'shop', table: 'mart.t', mode: 'APPEND', ...more },
    [input],
  );
