import type { EngineChoice } from './choose-engine.js';
import type { DefinitionWarning, ParameterDeclaration } from './pipeline-definition.js';
import type { PlaceholderUse } from './placeholder-errors.js';
import { placeOf } from './placeholder-place.js';
import { fillIn } from './placeholders.js';
import type { WrittenCheck } from './quality-checks.js';
import type { Item } from './read-items.js';
import { replaces, sharedTables } from './shared-targets.js';
import { visitTexts } from './visit-texts.js';
import type { YamlText } from './yaml-text.js';

/** A definition without errors, in its parts. */
export interface Written {
  text: YamlText;
  items: readonly Item[];
  checks: readonly WrittenCheck[];
  parameters: readonly (ParameterDeclaration & { path: readonly (string | number)[] })[];
  uses: readonly PlaceholderUse[];
  /** What the definition's `engine` came to. */
  choice: EngineChoice;
  /** Of the workspace: name to type. */
  connections: ReadonlyMap<string, string>;
}

interface Finding {
  message: string;
  path: readonly (string | number)[];
  key?: string;
}

interface Rule {
  name: string;
  find(written: Written): Finding[];
}

/** What is allowed and probably not meant. One entry for each rule; the names are part of the API. */
const RULES: readonly Rule[] = [
  {
    name: 'unused-result',
    find: ({ items, checks }) => {
      const read = new Set([
        ...items.flatMap(({ inputs }) => inputs.map(({ id }) => id)),
        ...checks.flatMap(({ references }) => references?.id ?? []),
      ]);
      return items
        .filter(({ kind, id }) => kind !== 'target' && !read.has(id))
        .map(({ id, path }) => ({ message: `Nothing reads the result of "${id}".`, path }));
    },
  },
  {
    name: 'no-target',
    find: ({ items }) =>
      items.some(({ kind }) => kind === 'target')
        ? []
        : [{ message: 'No task is a target: a run writes nothing.', path: ['tasks'] }],
  },
  {
    name: 'unused-parameter',
    find: ({ parameters, uses }) => {
      const used = new Set(uses.map(({ name }) => name));
      return parameters
        .filter(({ id }) => !used.has(`params.${id}`))
        .map(({ id, path }) => ({ message: `Nothing uses the parameter "${id}".`, path }));
    },
  },
  {
    name: 'unclosed-placeholder',
    find: ({ text }) => {
      const found: Finding[] = [];
      visitTexts(text.value, {
        onText: (value, path) => {
          const isText = placeOf(path, text.value) === 'text';
          if (!isText || !fillIn(value, () => '').includes('{{')) return;
          found.push({ message: 'There is a "{{" that begins no placeholder: it stays as it is.', path });
        },
      });
      return found;
    },
  },
  {
    name: 'required-with-default',
    find: ({ parameters }) =>
      parameters
        .filter((parameter) => parameter.required && parameter.default !== undefined)
        .map(({ id, path }) => ({
          message: `"${id}" is required, so its default is never used.`,
          path,
          key: 'default',
        })),
  },
  {
    name: 'star-into-keyed-target',
    find: ({ items }) => {
      const byId = new Map(items.map((item) => [item.id, item]));
      return keyedTargets(items).flatMap(({ id, inputs: [input] }) => {
        const from = input && byId.get(input.id);
        return from?.value['type'] === 'sql' && /\bselect\s+(?:\w+\.)?\*/i.test(String(from.value['sql']))
          ? [
              {
                message: `SELECT * decides the columns of the target "${id}": name them, or its table follows every change of a source.`,
                path: [...from.path, 'sql'],
              },
            ]
          : [];
      });
    },
  },
  {
    name: 'append-of-incremental',
    find: ({ items }) => {
      const incremental = items.filter(({ value }) => value['incremental'] !== undefined);
      if (incremental.length === 0) return [];
      return items
        .filter(({ kind, value }) => kind === 'target' && value['mode'] === 'APPEND' && 'table' in value)
        .filter((target) => incremental.some(({ id }) => ancestors(target, items).has(id)))
        .map(({ id, path }) => ({
          message: `"${id}" appends what an incremental source reads: a row that changed is there twice. UPSERT with keys keeps one.`,
          path,
          key: 'mode',
        }));
    },
  },
  {
    name: 'incremental-overwrite',
    find: ({ items }) => {
      const incremental = items.filter(({ value }) => value['incremental'] !== undefined);
      return items
        .filter((item) => item.kind === 'target' && replaces(item))
        .filter((target) => incremental.some(({ id }) => ancestors(target, items).has(id)))
        .map(({ id, path }) => ({
          message: `"${id}" keeps only what the run read, and an incremental source reads only what is new.`,
          path,
        }));
    },
  },
  {
    name: 'shared-table',
    find: ({ text, items }) =>
      sharedTables(items).map(({ first, second }) => ({
        message: `"${second.id}" and "${first.id}" (line ${text.error('', first.path).line}) write one table, which one of them makes what it read itself: not all of both is left.`,
        path: [...second.path, 'table'],
      })),
  },
  {
    name: 'targets-apart',
    find: ({ items, choice: { engine } }) => {
      const [first, second] = items.filter((item) => 'table' in item.value && replaces(item));
      if (engine !== 'BATCH' || !first || !second) return [];
      const message = `Each table is replaced whole or not at all, but not all together: where "${second.id}" fails, "${first.id}" may be new already.`;
      return [{ message, path: second.path }];
    },
  },
  {
    name: 'unread-input',
    find: ({ items }) =>
      items.flatMap(({ id, value, inputs, dependsOn }) => {
        const { sql } = value;
        // What "dependsOn" alone names may be there for the order.
        const isOrder = value['inputs'] === undefined && dependsOn.length > 0;
        if (value['type'] !== 'sql' || typeof sql !== 'string' || isOrder) return [];
        const words = new Set(sql.toLowerCase().match(/\w+/g));
        return inputs
          .filter((input) => !words.has(input.id.toLowerCase()))
          .map((input) => ({
            message: `The SQL of "${id}" does not name its input "${input.id}".`,
            path: input.path,
          }));
      }),
  },
  {
    name: 'dialect-by-auto',
    find: ({ items, choice: { engine, requested } }) => {
      if (engine !== 'JDBC' || requested !== 'AUTO') return [];
      const database = items.some(({ value }) => value['type'] === 'mysql') ? 'MySQL' : 'PostgreSQL';
      return items
        .filter(({ kind, value }) => kind === 'transformation' && SQL_OF_AUTHOR.has(String(value['type'])))
        .slice(0, 1)
        .map(({ id, path }) => ({
          message: `AUTO runs this inside ${database}, so the SQL of "${id}" is ${database}'s and not DuckDB's: say so with "engine: JDBC", or write "engine: BATCH".`,
          path,
        }));
    },
  },
  {
    name: 'not-pushed-down',
    find: ({ items, choice: { requested, engine, notPushedDown } }) => {
      const [obstacle] = notPushedDown;
      if (engine !== 'BATCH' || requested !== 'AUTO' || !obstacle || !isOnOneDatabase(items)) return [];
      const { why, path, key } = obstacle;
      const message = `All data is on one connection, and still AUTO means BATCH, not JDBC: ${why} "engine: BATCH" says that it is meant.`;
      return [{ message, path, ...(key !== undefined && { key }) }];
    },
  },
  {
    name: 'no-timeout',
    find: ({ text, items }) =>
      'timeout' in (text.value as object) || items.every(({ value }) => value['timeout'] !== undefined)
        ? []
        : [{ message: 'Neither the definition nor all its tasks have a "timeout".', path: [] }],
  },
  {
    name: 'unchecked-contract',
    find: ({ text }) =>
      'contract' in (text.value as object)
        ? [{ message: 'Contracts are not checked by runs yet.', path: [], key: 'contract' }]
        : [],
  },
  {
    name: 'unknown-connection',
    find: ({ items, connections }) =>
      items.flatMap(({ value, path }) => {
        const { connection: name, type } = value;
        if (typeof name !== 'string' || name.includes('{{')) return [];
        const found = connections.get(name);
        const at = [...path, 'connection'];
        if (found === undefined)
          return [{ message: `There is no connection "${name}" in the workspace.`, path: at }];
        if (found === type) return [];
        return [{ message: `"${name}" is a connection of type ${found}, not ${type}.`, path: at }];
      }),
  },
];

/** Transformations that hold SQL an author wrote. */
const SQL_OF_AUTHOR: ReadonlySet<string> = new Set(['sql', 'filter', 'deduplicate', 'aggregate']);

const MAX_WARNINGS = 100;

/** In the order of the text, at most a hundred. */
export function lintDefinition(written: Written): DefinitionWarning[] {
  return RULES.flatMap(({ name, find }) =>
    find(written).map(({ message, path, key }) => ({
      rule: name,
      ...written.text.error(message, path, key),
    })),
  )
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, MAX_WARNINGS);
}

/** The spec's condition for JDBC, which is wider than what can be pushed down. */
function isOnOneDatabase(items: readonly Item[]): boolean {
  const datasets = items
    .filter(({ kind }) => kind !== 'transformation')
    .map(({ value: { type, connection } }) =>
      type === 'postgres' || type === 'mysql' ? `${type} ${connection}` : '',
    );
  return new Set(datasets).size === 1 && datasets[0] !== '' && items.some(({ kind }) => kind === 'target');
}

function keyedTargets(items: readonly Item[]): Item[] {
  return items.filter(({ kind, value }) => kind === 'target' && value['keys'] !== undefined);
}

/** Ids of everything a task reads, directly or not. */
function ancestors(item: Item, items: readonly Item[]): Set<string> {
  const byId = new Map(items.map((each) => [each.id, each]));
  const found = new Set<string>();
  const open = [item];
  for (let next = open.pop(); next; next = open.pop()) {
    for (const { id } of next.inputs) {
      const input = byId.get(id);
      if (!input || found.has(id)) continue;
      found.add(id);
      open.push(input);
    }
  }
  return found;
}
