import { describe, expect, it } from '@jest/globals';
import { beginsAt, watermarkSources } from '../../../src/domain/runs/watermarks.js';
import type { TaskSpec } from '../../../src/engines/task-spec.js';

const from = (location: object) =>
  ({
    kind: 'source',
    type: 'postgres',
    connection: 'erp',
    incremental: { column: 'id' },
    ...location,
  }) as TaskSpec;

const orders = from({ table: 'orders' });
const items = from({ table: 'items' });
const query = from({ query: 'SELECT * FROM orders' });

const graph = (specs: Record<string, TaskSpec>) => ({
  tasks: Object.entries(specs).map(([id, spec]) => ({ id, spec })),
});

/** Where the tasks of a definition begin, after runs of another that read as far as is said. */
function begun(past: Record<string, [TaskSpec, string]>, now: Record<string, TaskSpec>) {
  const specs = Object.fromEntries(Object.entries(past).map(([id, [spec]]) => [id, spec]));
  const watermarks = Object.fromEntries(
    Object.entries(watermarkSources(graph(specs))).map(([id, source]) => [
      id,
      { value: past[id]?.[1] ?? '', source },
    ]),
  );
  const { tasks } = graph(now);
  return Object.fromEntries(tasks.map((task) => [task.id, beginsAt(watermarks, { tasks }, task)]));
}

describe('a source begins', () => {
  it('where it stopped, but elsewhere at the beginning', () => {
    expect(begun({ s: [orders, '7'] }, { s: orders })).toEqual({ s: '7' });
    expect(begun({ s: [orders, '7'] }, { s: items })).toEqual({ s: undefined });
    expect(
      begun({ s: [orders, '7'] }, { s: from({ table: 'orders', incremental: { column: 'at' } }) }),
    ).toEqual({ s: undefined });
  });

  it('where it stopped under another name', () => {
    expect(begun({ s: [orders, '7'] }, { s2: orders })).toEqual({ s2: '7' });
    expect(begun({ s: [orders, '7'], t: [items, '9'] }, { s: items, t: orders })).toEqual({ s: '9', t: '7' });
    expect(begun({ s: [orders, '7'], t: [orders, '7'] }, { a: orders, b: orders })).toEqual({
      a: '7',
      b: '7',
    });
  });

  it('at its beginning where another goes on from there, or it is not certain which one this was', () => {
    expect(begun({ s: [orders, '7'] }, { s: orders, s2: orders })).toEqual({ s: '7', s2: undefined });
    expect(begun({ s: [orders, '7'] }, { a: orders, b: orders })).toEqual({ a: undefined, b: undefined });
    expect(begun({ s: [orders, '7'], t: [orders, '9'] }, { a: orders, b: orders })).toEqual({
      a: undefined,
      b: undefined,
    });
  });

  it('by the name of its task alone where it is no table', () => {
    expect(begun({ s: [query, '7'] }, { s: from({ query: 'SELECT * FROM items' }) })).toEqual({ s: '7' });
    expect(begun({ s: [query, '7'] }, { s2: query })).toEqual({ s2: undefined });
  });
});
