import { dependenciesOf } from './compile-graph.js';
import type { DefinitionError } from './pipeline-definition.js';
import type { Item } from './read-items.js';
import { sharedFiles } from './shared-targets.js';
import { orderTasks } from './task-order.js';
import type { YamlText } from './yaml-text.js';

/** What the schema cannot say about the tasks together: names, references, cycles. */
export function graphErrors(items: readonly Item[], text: YamlText): DefinitionError[] {
  return [
    ...duplicateIds(items, text),
    ...badReferences(items, text),
    ...cycles(items, text),
    ...overwrittenFiles(items, text),
  ];
}

function overwrittenFiles(items: readonly Item[], text: YamlText): DefinitionError[] {
  return sharedFiles(items).map(({ first, second }) => {
    const { line } = text.error('', first.path);
    const message = `"${second.id}" overwrites the file of "${first.id}" (line ${line}): only the last one's rows would be left.`;
    return text.error(message, [...second.path, 'path']);
  });
}

/** SQL knows tables without regard to case, and a result file is named by the id. */
function duplicateIds(items: readonly Item[], text: YamlText): DefinitionError[] {
  const seen = new Map<string, Item>();
  return items.flatMap((item) => {
    const first = seen.get(item.id.toLowerCase());
    if (!first) {
      seen.set(item.id.toLowerCase(), item);
      return [];
    }
    const { line } = text.error('', [...first.path, 'id']);
    return [
      text.error(`The id "${item.id}" is already used in line ${line} (case does not distinguish ids).`, [
        ...item.path,
        'id',
      ]),
    ];
  });
}

function badReferences(items: readonly Item[], text: YamlText): DefinitionError[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return items.flatMap((item) => {
    const dangling = [...new Set([...item.dependsOn, ...item.inputs])]
      .filter(({ id }) => !byId.has(id))
      .map(({ id, path }) => text.error(`There is no task "${id}".`, path));
    const fromTargets = item.inputs
      .filter(({ id }) => byId.get(id)?.kind === 'target')
      .map(({ id, path }) => text.error(`"${id}" is a target and cannot be read from.`, path));
    return [...dangling, ...fromTargets, ...waitsForTarget(item, byId, text), ...targetInput(item, text)];
  });
}

/** A run starts its targets when everything else is done, so that one which fails has written nowhere. */
function waitsForTarget(item: Item, byId: ReadonlyMap<string, Item>, text: YamlText): DefinitionError[] {
  if (item.kind === 'target') return [];
  return item.dependsOn
    .filter(({ id }) => byId.get(id)?.kind === 'target')
    .map(({ id, path }) =>
      text.error(`"${item.id}" waits for the target "${id}"; only a target can wait for a target.`, path),
    );
}

function targetInput({ kind, id, inputs, path }: Item, text: YamlText): DefinitionError[] {
  if (kind !== 'target' || inputs.length === 1) return [];
  const why =
    inputs.length === 0 ? 'has no input' : `could read ${inputs.map((input) => input.id).join(' or ')}`;
  return [text.error(`The target "${id}" ${why}: name one with "input".`, path)];
}

/** One error at each reference that takes part, so that every line of the cycle is marked. */
function cycles(items: readonly Item[], text: YamlText): DefinitionError[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const waitsFor = new Map(items.map((item) => [item.id, dependenciesOf(item).filter((id) => byId.has(id))]));
  return orderTasks([...byId.keys()], waitsFor).cycles.flatMap((cycle) => {
    const told = [...cycle, cycle[0]].join(' -> ');
    return cycle.flatMap((id, index) => {
      const item = byId.get(id);
      const next = cycle[(index + 1) % cycle.length];
      const reference =
        item && [...item.dependsOn, ...item.inputs].find((candidate) => candidate.id === next);
      return reference ? [text.error(`"${id}" waits for itself: ${told}.`, reference.path)] : [];
    });
  });
}
