import type { AuthorText } from '../../../engines/engine.js';
import type { EngineChoice } from './choose-engine.js';
import type { DefinitionError, WrittenText } from './pipeline-definition.js';
import { placeholdersIn } from './placeholders.js';
import type { WrittenCheck } from './quality-checks.js';
import type { Item } from './read-items.js';
import type { Path, YamlText } from './yaml-text.js';

type Found = [author: AuthorText, path: Path];
type Reader = (item: Item) => Found[];

const expression: Reader = (item) => at(item, 'where', 'expression');
const condition: Reader = (item) => at(item, 'deleteWhen', 'expression');

/** Where an author writes a language of BATCH. What a database's source reads is that database's own. */
const TEXTS: Readonly<Record<string, Reader>> = {
  'transformation:sql': ({ value: { sql: text }, inputs, path }) =>
    typeof text === 'string'
      ? [[{ language: 'select', text, inputs: inputs.map(({ id }) => id) }, [...path, 'sql']]]
      : [],
  'transformation:filter': expression,
  'transformation:deduplicate': (item) => within(item, 'orderBy', 'orderTerm'),
  'transformation:aggregate': measures,
  'transformation:javascript': ({ value: { code: text }, path }) =>
    typeof text === 'string' ? [[{ language: 'javascript', text }, [...path, 'code']]] : [],
  'target:postgres': condition,
  'target:mysql': condition,
};

/**
 * The texts of a definition that BATCH will read as they stand: one with a placeholder is not known before a run.
 * @param errors what is wrong besides; AUTO may mean another engine once that is mended
 */
export function authorTexts(
  {
    items,
    checks,
    choice,
    text,
  }: {
    items: readonly Item[];
    checks: readonly WrittenCheck[];
    choice: EngineChoice;
    text: YamlText;
  },
  errors: readonly DefinitionError[],
): WrittenText[] {
  if (!isSurelyBatch(choice, errors, text)) return [];
  const found = [
    ...items.flatMap((item) => TEXTS[`${item.kind}:${item.value['type']}`]?.(item) ?? []),
    ...checks.flatMap(textsOfCheck),
  ];
  return found
    .filter(([author]) => placeholdersIn(author.text).length === 0)
    .map(([author, path]) => ({ author, error: (message) => text.error(message, path) }));
}

function textsOfCheck({ on, path, value: { type, sql, pattern } }: WrittenCheck): Found[] {
  if (type === 'customSql' && typeof sql === 'string')
    return [[{ language: 'select', text: sql, inputs: [on] }, [...path, 'sql']]];
  if (type === 'regex' && typeof pattern === 'string')
    return [[{ language: 'regex', text: pattern }, [...path, 'pattern']]];
  return [];
}

/** A measure is also judged by what it is grouped by, where that is known. */
function measures(item: Item): Found[] {
  const { groupBy = [] } = item.value;
  const found = within(item, 'measures', 'expression');
  if (!Array.isArray(groupBy) || !groupBy.every(isFixedName)) return found;
  return found.map(([author, path]) => [
    { language: 'measure', text: author.text, field: 'measures', groupBy },
    path,
  ]);
}

const isFixedName = (name: unknown): name is string =>
  typeof name === 'string' && placeholdersIn(name).length === 0;

function at({ value, path }: Item, field: string, language: 'expression'): Found[] {
  const text = value[field];
  return typeof text === 'string' ? [[{ language, text, field }, [...path, field]]] : [];
}

/** Of a list or a map. */
function within({ value, path }: Item, field: string, language: 'expression' | 'orderTerm'): Found[] {
  const collection = value[field];
  if (typeof collection !== 'object' || collection === null) return [];
  return Object.entries(collection).flatMap(([key, text]: [string, unknown]): Found[] => {
    const step = Array.isArray(collection) ? Number(key) : key;
    return typeof text === 'string' ? [[{ language, text, field }, [...path, field, step]]] : [];
  });
}

/** In a database that carries out the whole graph, SQL is that database's. */
function isSurelyBatch(
  { engine, requested, notPushedDown }: EngineChoice,
  errors: readonly DefinitionError[],
  text: YamlText,
): boolean {
  if (engine !== 'BATCH') return false;
  if (requested === 'BATCH') return true;
  const wrong = new Set(errors.map(({ path }) => path));
  if (wrong.has('engine')) return false;
  return notPushedDown.some(
    ({ why, path, key, varies }) =>
      !varies && (errors.length === 0 || (path.length > 0 && !wrong.has(text.error(why, path, key).path))),
  );
}
