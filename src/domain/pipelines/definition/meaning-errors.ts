import { chooseEngine } from './choose-engine.js';
import { dependenciesOf, specOf } from './compile-graph.js';
import { durationMs } from './duration.js';
import { fileFormat } from './file-format.js';
import type { DefinitionError } from './pipeline-definition.js';
import type { Item } from './read-items.js';
import { orderTasks } from './task-order.js';
import type { Path, YamlText } from './yaml-text.js';

/** What the schema cannot say about the tasks together: names, references, cycles. */
export function graphErrors(items: readonly Item[], text: YamlText): DefinitionError[] {
  return [...duplicateIds(items, text), ...badReferences(items, text), ...cycles(items, text)];
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
      text.error(
        `"${item.id}" waits for the target "${id}"; that is supported between targets only yet.`,
        path,
      ),
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

/** What the schema cannot say about one task. */
export function taskErrors(items: readonly Item[], text: YamlText): DefinitionError[] {
  return items.flatMap((item) => [...(CHECKS[`${item.kind}:${item.value['type']}`]?.(item, text) ?? [])]);
}

const CHECKS: Readonly<Record<string, (item: Item, text: YamlText) => DefinitionError[]>> = {
  'source:file': (item, text) => [...formatErrors(item, text), ...optionErrors(item, text)],
  'target:file': formatErrors,
  'source:inline': inlineErrors,
  'source:postgres': postgresSourceErrors,
  'target:postgres': postgresTargetErrors,
};

function formatErrors({ kind, value, path }: Item, text: YamlText): DefinitionError[] {
  const format = fileFormat(value);
  if (typeof value['path'] !== 'string') return [];
  if (!format)
    return [
      text.error(`The format of "${value['path']}" is not clear from its ending: add "format".`, [
        ...path,
        'path',
      ]),
    ];
  if (kind === 'target' && format === 'json')
    return [text.error('A target can be csv, ndjson or parquet, not json.', [...path, 'path'])];
  return [];
}

function optionErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const format = fileFormat(value);
  const errors: DefinitionError[] = [];
  if (format && format !== 'csv' && value['csv'] !== undefined)
    errors.push(text.error(`"csv" does not apply to ${format}.`, path, 'csv'));
  if (format === 'parquet' && value['columns'] !== undefined)
    errors.push(text.error('A Parquet file brings its own column types.', path, 'columns'));
  return errors;
}

function inlineErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const rows = value['rows'];
  if (!Array.isArray(rows) || rows.length > 0 || value['columns'] !== undefined) return [];
  return [text.error('Without rows the columns are not known: add "columns".', [...path, 'rows'])];
}

function postgresSourceErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  if ((value['table'] === undefined) !== (value['query'] === undefined)) return [];
  return [text.error('A postgres source has either "table" or "query".', path)];
}

function postgresTargetErrors({ value, path }: Item, text: YamlText): DefinitionError[] {
  const isUpsert = value['mode'] === 'UPSERT';
  if (isUpsert && value['keys'] === undefined) return [text.error('UPSERT needs "keys".', path, 'mode')];
  if (!isUpsert && value['keys'] !== undefined && value['mode'] !== undefined) {
    return [text.error('"keys" applies to mode UPSERT only.', path, 'keys')];
  }
  return [];
}

const PLACEHOLDER = /\{\{\s*[\w.]+\s*\}\}/;
const DURATION_KEYS: ReadonlySet<unknown> = new Set(['timeout', 'interval', 'maxInterval']);
/** Timers of node end at 24.8 days, the statement timeout of a PostgreSQL session of ours at 7. */
const MAX_DURATION_MS = 7 * 86_400_000;

/** What can be wrong with a text anywhere. */
export function valueErrors(text: YamlText): DefinitionError[] {
  const errors: DefinitionError[] = [];
  const visit = (value: unknown, path: Path): void => {
    if (typeof value === 'string') {
      const message = textProblem(value, path.at(-1));
      if (message) errors.push(text.error(message, path));
    } else if (Array.isArray(value)) {
      for (const [index, element] of value.entries()) visit(element, [...path, index]);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, element] of Object.entries(value)) visit(element, [...path, key]);
    }
  };
  visit(text.value, []);
  return errors;
}

function textProblem(value: string, key: string | number | undefined): string | undefined {
  // A definition written for parameters must not run with the braces taken literally.
  const placeholder = PLACEHOLDER.exec(value);
  if (placeholder) return `The parameter ${placeholder[0]} is not supported yet.`;
  const duration = DURATION_KEYS.has(key) ? durationMs(value) : undefined;
  if (duration === 0 && key === 'timeout') return 'timeout must be longer than nothing.';
  return duration !== undefined && duration > MAX_DURATION_MS ? `${key} can be 7 days at most.` : undefined;
}

/** Of a definition without other errors: the engine it asks for must exist. */
export function engineErrors(
  items: readonly Item[],
  requested: 'AUTO' | 'BATCH',
  text: YamlText,
): DefinitionError[] {
  const choice = chooseEngine(requested, items.map(specOf));
  return choice.ok ? [] : [text.error(choice.message, ['engine'])];
}
