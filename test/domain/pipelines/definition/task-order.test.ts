import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseDefinition } from '../../../../src/domain/pipelines/definition/index.js';

/** A tasks document in which task i waits for the tasks given; the first is a source. */
function document(waitsFor: readonly (readonly number[])[]): string {
  const tasks = waitsFor.map((needs, index) =>
    needs.length === 0
      ? `  - { id: t${index}, kind: source, type: inline, rows: [{ a: 1 }] }`
      : `  - { id: t${index}, kind: transformation, type: sql, inputs: [${needs.map((need) => `t${need}`).join(', ')}], sql: SELECT 1 }`,
  );
  return `apiVersion: v1\nname: n\ntasks:\n${tasks.join('\n')}\n`;
}

/** Edges from later to earlier tasks only, then the tasks shuffled: any acyclic graph. */
const acyclic = fc.integer({ min: 1, max: 25 }).chain((size) =>
  fc.record({
    needs: fc.tuple(
      ...Array.from({ length: size }, (_, index) =>
        index === 0
          ? fc.constant<number[]>([])
          : fc.uniqueArray(fc.integer({ min: 0, max: index - 1 }), { maxLength: 5 }),
      ),
    ),
    order: fc.shuffledSubarray(
      Array.from({ length: size }, (_, index) => index),
      { minLength: size, maxLength: size },
    ),
  }),
);

function shuffled({ needs, order }: { needs: number[][]; order: number[] }): number[][] {
  const place = new Map(order.map((old, index) => [old, index]));
  return order.map((old) => (needs[old] ?? []).map((need) => place.get(need) ?? -1));
}

it('any acyclic graph compiles to a topological order with true levels', () => {
  fc.assert(
    fc.property(acyclic, (graph) => {
      const waitsFor = shuffled(graph);
      const parsed = parseDefinition(document(waitsFor));
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
      const { tasks, levels } = parsed.graph;
      expect(tasks.map(({ id }) => id).sort()).toEqual(waitsFor.map((_, index) => `t${index}`).sort());
      const position = new Map(tasks.map(({ id }, index) => [id, index]));
      const level = new Map(tasks.map((task) => [task.id, task.level]));
      for (const [index, task] of tasks.entries()) {
        expect(new Set(task.dependsOn)).toEqual(
          new Set(waitsFor[Number(task.id.slice(1))]?.map((need) => `t${need}`)),
        );
        for (const need of task.dependsOn) expect(position.get(need)).toBeLessThan(index);
        const highest = Math.max(-1, ...task.dependsOn.map((need) => level.get(need) ?? Number.NaN));
        expect(task.level).toBe(highest + 1);
      }
      expect(levels.flat()).toEqual(tasks);
      expect(levels.every((same, depth) => same.every((task) => task.level === depth))).toBe(true);
    }),
    { numRuns: 200 },
  );
});

it('any graph with a cycle is refused, and the tasks it names wait for one another in turn', () => {
  const cyclic = acyclic.chain((graph) =>
    fc.record({
      graph: fc.constant(graph),
      cycle: fc.shuffledSubarray(graph.order, { minLength: 1, maxLength: Math.min(6, graph.order.length) }),
    }),
  );
  fc.assert(
    fc.property(cyclic, ({ graph, cycle }) => {
      const waitsFor = shuffled(graph);
      for (const [index, id] of cycle.entries()) {
        const next = cycle[(index + 1) % cycle.length] ?? 0;
        waitsFor[id] = [...new Set([...(waitsFor[id] ?? []), next])];
      }
      const parsed = parseDefinition(document(waitsFor));
      if (parsed.ok) throw new Error('accepted');
      const told = parsed.errors.flatMap(({ message, line }) => {
        const match = /^"t(\d+)" waits for itself: (.*)\.$/.exec(message);
        return match
          ? [
              {
                id: Number(match[1]),
                line,
                path: (match[2] ?? '').split(' -> ').map((name) => Number(name.slice(1))),
              },
            ]
          : [];
      });
      expect(told.length).toBeGreaterThan(0);
      for (const { id, line, path } of told) {
        expect(line).toBe(id + 4);
        expect(path[0]).toBe(path.at(-1));
        for (let step = 0; step + 1 < path.length; step += 1)
          expect(waitsFor[path[step] ?? -1]).toContain(path[step + 1]);
      }
    }),
    { numRuns: 200 },
  );
});

it('text of any kind gives errors, never an exception', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.json().map((json) => `source: ${json}\ntarget: ${json}\ntasks: ${json}`),
    fc
      .array(
        fc.constantFrom(
          '- ',
          ': ',
          '{',
          '}',
          '[',
          ']',
          '&a ',
          '*a ',
          '!t ',
          '"',
          "'",
          '\n',
          '  ',
          'id',
          'source',
          'tasks',
          '|',
          '>',
          '#',
          '?',
        ),
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (yaml) => {
      const parsed = parseDefinition(yaml);
      if (parsed.ok) throw new Error('accepted');
      for (const { line, column, message } of parsed.errors) {
        expect(line).toBeGreaterThan(0);
        expect(column).toBeGreaterThan(0);
        expect(message).not.toBe('');
      }
    }),
    { numRuns: 500 },
  );
});
