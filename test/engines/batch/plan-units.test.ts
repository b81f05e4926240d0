import { describe, expect, it } from '@jest/globals';
import { planUnits } from '../../../src/engines/batch/plan-units.js';
import type { EngineTask, GraphTask } from '../../../src/engines/engine.js';
import type { TaskSpec } from '../../../src/engines/task-spec.js';

const specs: Record<string, Partial<TaskSpec> & { kind: string; type: string }> = {
  file: { kind: 'source', type: 'file', path: 'a.csv', format: 'csv' },
  table: { kind: 'source', type: 'postgres', connection: 'dwh', table: 't' },
  sql: { kind: 'transformation', type: 'sql', sql: 'SELECT 1' },
  js: { kind: 'transformation', type: 'javascript', code: '' },
  out: { kind: 'target', type: 'file', path: 'o.csv', format: 'csv', mode: 'OVERWRITE' },
};

/** `id:spec<input,input` */
function graph(...texts: string[]): GraphTask[] {
  return texts.map((text) => {
    const [, id = '', spec = '', inputs] = /^(\w+):(\w+)(?:<(.*))?$/.exec(text) ?? [];
    const needed = inputs?.split(',') ?? [];
    return { id, spec: specs[spec] as TaskSpec, inputs: needed, dependsOn: needed };
  });
}

function told(units: readonly EngineTask[]): string[] {
  return units.map(({ id, within = [] }) => [...within.map((inner) => inner.id), id].join('+'));
}

describe('what is carried out as one', () => {
  it.each<[string, string[], string[]]>([
    ['a file and the chain that alone reads it', ['a:file', 'b:sql<a', 'c:sql<b', 'o:out<c'], ['a+b+c', 'o']],
    ['a tree of inputs', ['a:file', 'b:file', 'c:sql<a', 'd:sql<b,c', 'o:out<d'], ['b+a+c+d', 'o']],
    [
      'nothing that two tasks read',
      ['a:file', 'b:sql<a', 'c:sql<a', 'o:out<b', 'p:out<c'],
      ['a', 'b', 'c', 'o', 'p'],
    ],
    ['no file that goes straight to a target', ['a:file', 'o:out<a'], ['a', 'o']],
    ['no database, and no JavaScript', ['t:table', 'j:js<t', 'b:sql<j', 'o:out<b'], ['t', 'j', 'b', 'o']],
    [
      'what follows JavaScript',
      ['a:file', 'j:js<a', 'b:sql<j', 'c:sql<b', 'o:out<c'],
      ['a', 'j', 'b+c', 'o'],
    ],
  ])('is %s', (_, texts, units) => {
    expect(told(planUnits(graph(...texts)))).toEqual(units);
  });

  it('is not what somebody waits for, has checks, or has a retry of its own', () => {
    const waited = graph('a:file', 'b:sql<a', 'c:sql<b', 'd:sql<c', 'e:sql<d', 'o:out<e');
    const [a, b, c, d, e, o] = waited as [GraphTask, GraphTask, GraphTask, GraphTask, GraphTask, GraphTask];
    const units = planUnits([
      a,
      { ...b, checks: [{ type: 'rowCount', min: 1, severity: 'ERROR', index: 0 }] },
      { ...c, alone: true },
      d,
      e,
      { ...o, dependsOn: ['e', 'd'] },
    ]);
    expect(told(units)).toEqual(['a+b', 'c', 'd', 'e', 'o']);
    expect(units[0]?.checks).toHaveLength(1);
  });

  it('is not an input that a check of the reader compares with', () => {
    const [a, b, o] = graph('a:file', 'b:sql<a', 'o:out<b') as [GraphTask, GraphTask, GraphTask];
    const references = { task: 'a', column: 'id' };
    const check = { type: 'referential', column: 'id', references, severity: 'ERROR', index: 0 } as const;
    expect(told(planUnits([a, { ...b, checks: [check] }, o]))).toEqual(['a', 'b', 'o']);
  });

  it('is no longer than a run taken up again may do twice', () => {
    const chain = ['t0:file', ...Array.from({ length: 40 }, (_, i) => `t${i + 1}:sql<t${i}`), 'o:out<t40'];
    const units = planUnits(graph(...chain));
    expect(units.map(({ within = [] }) => within.length + 1)).toEqual([16, 16, 9, 1]);
    expect(units.flatMap(({ id, within = [] }) => [...within.map((inner) => inner.id), id])).toHaveLength(42);
  });
});
