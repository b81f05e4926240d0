import type { QualityCheckSpec } from '../../../engines/task-spec.js';
import { durationMs } from './duration.js';
import type { DefinitionError } from './pipeline-definition.js';
import type { Item, Reference } from './read-items.js';
import type { Path, YamlText } from './yaml-text.js';

type Value = Readonly<Record<string, unknown>>;

/** One entry of `quality` as written. */
export interface WrittenCheck {
  index: number;
  /** The task whose result it judges. */
  on: string;
  path: Path;
  value: Value;
  /** The other task whose result it reads. */
  references?: Reference;
}

/** What of `quality` is shaped like a check; the rest is left to the schema. */
export function readChecks({ value }: YamlText): WrittenCheck[] {
  const quality: unknown = (value as Value | null | undefined)?.['quality'];
  if (quality === undefined) return [];
  const entries: [unknown, Path][] = Array.isArray(quality)
    ? quality.map((entry: unknown, index) => [entry, ['quality', index]])
    : [[quality, ['quality']]];
  return entries.flatMap(([entry, path], index) => {
    const { on, references } = (entry ?? {}) as Value;
    if (typeof on !== 'string') return [];
    const task: unknown = (references as Value | null | undefined)?.['task'];
    const reference = typeof task === 'string' && task !== on;
    return [
      {
        index,
        on,
        path,
        value: entry as Value,
        ...(reference && { references: { id: task, path: [...path, 'references', 'task'] } }),
      },
    ];
  });
}

/** A check that reads another task's result makes its own task wait for that one. */
export function awaitReferences(items: readonly Item[], checks: readonly WrittenCheck[]): Item[] {
  const targets = new Set(items.filter(({ kind }) => kind === 'target').map(({ id }) => id));
  const awaitable = checks.filter(({ references }) => references && !targets.has(references.id));
  return items.map((item) => {
    const awaited = awaitable.flatMap(({ on, references }) =>
      on === item.id && references ? [references] : [],
    );
    return awaited.length === 0 ? item : { ...item, dependsOn: [...item.dependsOn, ...awaited] };
  });
}

/** What the schema cannot say about checks. */
export function checkErrors(
  checks: readonly WrittenCheck[],
  items: readonly Item[],
  text: YamlText,
): DefinitionError[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return checks.flatMap(({ on, path, value, references }) => [
    ...subjectErrors(byId.get(on), on, [...path, 'on'], text),
    ...(references && byId.get(references.id)?.kind === 'target'
      ? [text.error(`"${references.id}" is a target and cannot be read from.`, references.path)]
      : []),
    ...boundErrors(value, path, text),
  ]);
}

function subjectErrors(item: Item | undefined, id: string, path: Path, text: YamlText): DefinitionError[] {
  if (!item) return [text.error(`There is no task "${id}".`, path)];
  if (item.kind !== 'target') return [];
  return [text.error(`"${id}" is a target: a check is tried on a source or a transformation.`, path)];
}

function boundErrors(value: Value, path: Path, text: YamlText): DefinitionError[] {
  const { type, min, max } = value;
  if (type === 'regex') return patternErrors(value['pattern'], [...path, 'pattern'], text);
  if (type !== 'rowCount' && type !== 'range') return [];
  if (min === undefined && max === undefined) {
    return [text.error(`${type} needs "min", "max" or both.`, path)];
  }
  if (typeof min === 'number' && typeof max === 'number' && min > max) {
    return [text.error('"min" is greater than "max".', [...path, 'min'])];
  }
  return [];
}

/** RE2, which the engine speaks, is nearly a part of JavaScript's regular expressions: what both refuse is wrong. */
function patternErrors(pattern: unknown, path: Path, text: YamlText): DefinitionError[] {
  if (typeof pattern !== 'string') return [];
  if (/\(\?<?[=!]|(?<!\\)\\[1-9]/.test(pattern)) {
    return [text.error('The pattern cannot look around or refer back: the engine speaks RE2.', path)];
  }
  return [];
}

/** The checks of one task. Of a definition that passed every check. */
export function checksOf(id: string, checks: readonly WrittenCheck[]): QualityCheckSpec[] {
  return checks.filter(({ on }) => on === id).map(toSpec);
}

function toSpec({ index, value: { on: _, severity, maxAge, ...own } }: WrittenCheck): QualityCheckSpec {
  return {
    ...own,
    ...(typeof maxAge === 'string' && { maxAgeMs: durationMs(maxAge) }),
    severity: severity ?? 'ERROR',
    index,
  } as unknown as QualityCheckSpec;
}
