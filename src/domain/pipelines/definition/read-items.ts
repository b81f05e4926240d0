import type { TaskKind } from '../../../engines/task-spec.js';
import type { DefinitionError } from './pipeline-definition.js';
import type { Path, YamlText } from './yaml-text.js';

/** A mention of another task, and where it stands. */
export interface Reference {
  id: string;
  path: Path;
}

/** One task as written, in either form, with its inputs settled. */
export interface Item {
  id: string;
  kind: TaskKind;
  path: Path;
  value: Readonly<Record<string, unknown>>;
  inputs: readonly Reference[];
  dependsOn: readonly Reference[];
}

type Raw = Omit<Item, 'inputs'> & { inputs: readonly Reference[] | undefined };

const SECTIONS: readonly { key: string; kind: TaskKind }[] = [
  { key: 'source', kind: 'source' },
  { key: 'transformations', kind: 'transformation' },
  { key: 'target', kind: 'target' },
];
const KINDS: ReadonlySet<unknown> = new Set(SECTIONS.map(({ kind }) => kind));

/**
 * The tasks of a definition in the order they are written. Tolerant: what is not shaped like a task is left to the
 * schema, so that the graph of the rest can still be judged and all errors come at once.
 */
export function readItems(text: YamlText, errors: DefinitionError[]): Item[] {
  const root = asRecord(text.value);
  if (!root) return [];
  const short = SECTIONS.filter(({ key }) => root[key] !== undefined);
  if (root['tasks'] !== undefined) {
    for (const { key } of short)
      errors.push(text.error(`"${key}" and "tasks" cannot stand together.`, [], key));
    const tasks = asList(root['tasks'], ['tasks']).flatMap(({ value, path }) =>
      readItem(value, path, value['kind']),
    );
    const targets = idsOf('target', tasks);
    return tasks.map((task) => ({ ...task, inputs: task.inputs ?? ownDependencies(task, targets) }));
  }
  for (const key of ['source', 'target']) {
    if (root[key] === undefined)
      errors.push(text.error(`"${key}" is missing (or write the graph under "tasks").`, []));
  }
  const items = short.flatMap(({ key, kind }) =>
    asList(root[key], [key]).flatMap(({ value, path }) => readItem(value, path, kind)),
  );
  return withDefaultInputs(items);
}

function readItem(value: Readonly<Record<string, unknown>>, path: Path, kind: unknown): Raw[] {
  const { id } = value;
  if (typeof id !== 'string' || !KINDS.has(kind)) return [];
  const input =
    typeof value['input'] === 'string' ? [{ id: value['input'], path: [...path, 'input'] }] : undefined;
  return [
    {
      id,
      kind: kind as TaskKind,
      path,
      value,
      inputs: kind === 'source' ? [] : (input ?? references(value['inputs'], [...path, 'inputs'])),
      dependsOn: references(value['dependsOn'], [...path, 'dependsOn']) ?? [],
    },
  ];
}

/** Under `tasks`, and wherever `dependsOn` is written without inputs, the dependencies are what is read. */
function ownDependencies(item: Raw, targets: ReadonlySet<string>): readonly Reference[] {
  return item.dependsOn.filter(({ id }) => !targets.has(id));
}

function withDefaultInputs(items: readonly Raw[]): Item[] {
  const targets = idsOf('target', items);
  const sources = items.filter(({ kind }) => kind === 'source');
  const transformations = items.filter(({ kind }) => kind === 'transformation');
  const before = new Map(transformations.map((item, index) => [item, transformations[index - 1]]));
  const defaultsOf = (item: Raw): readonly Reference[] => {
    const own = ownDependencies(item, targets);
    if (own.length > 0) return own;
    const one = item.kind === 'target' ? transformations.at(-1) : before.get(item);
    return (one ? [one] : sources).map(({ id }) => ({ id, path: item.path }));
  };
  return items.map((item) => ({ ...item, inputs: item.inputs ?? defaultsOf(item) }));
}

function idsOf(kind: TaskKind, items: readonly Raw[]): Set<string> {
  return new Set(items.filter((item) => item.kind === kind).map(({ id }) => id));
}

function references(value: unknown, path: Path): readonly Reference[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((id: unknown, index) =>
    typeof id === 'string' ? [{ id, path: [...path, index] }] : [],
  );
}

function asList(value: unknown, path: Path): { value: Readonly<Record<string, unknown>>; path: Path }[] {
  const elements: { value: unknown; path: Path }[] = Array.isArray(value)
    ? value.map((element: unknown, index) => ({ value: element, path: [...path, index] }))
    : [{ value, path }];
  return elements.flatMap((element) => {
    const record = asRecord(element.value);
    return record ? [{ value: record, path: element.path }] : [];
  });
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
