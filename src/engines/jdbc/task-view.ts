import type { Client } from 'pg';
import { identifier } from '../batch/sql-text.js';
import { tableName } from '../batch/table-name.js';
import type { EngineTask, ResultColumn } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type { JoinTransformationSpec, TaskSpec } from '../task-spec.js';

/** PostgreSQL folds a name without quotes to lower case, and so authors will write it. */
export function viewName(taskId: string): string {
  return `pg_temp.${identifier(taskId.toLowerCase())}`;
}

/**
 * A task named like a table must not stand in for it where a source reads it or a target writes it: there names are
 * looked up among the views last, in transformations first (which is PostgreSQL's way). Until the transaction ends.
 */
export async function lookUpFor(client: Client, { spec }: EngineTask): Promise<void> {
  await client.query(
    `SELECT set_config('search_path', concat_ws(', ',
       CASE WHEN $1 THEN 'pg_temp' END,
       (SELECT nullif(reset_val, '') FROM pg_settings WHERE name = 'search_path'),
       CASE WHEN NOT $1 THEN 'pg_temp' END), true)`,
    [spec.kind === 'transformation'],
  );
}

/** Makes the result of a source or transformation a temporary view under its id, which ends with the connection. */
export async function createView(client: Client, task: EngineTask): Promise<void> {
  // The extended protocol takes one statement only, and a view takes nothing but a query: no text can write here.
  await client.query({
    text: `CREATE TEMP VIEW ${viewName(task.id).replace('pg_temp.', '')} AS ${await selectOf(client, task)}`,
    queryMode: 'extended',
  } as { text: string });
}

/** With PostgreSQL's names of the types. */
export async function columnsOfView(client: Client, taskId: string): Promise<ResultColumn[]> {
  const { rows } = await client.query<ResultColumn>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [viewName(taskId)],
  );
  return rows;
}

type Select = (client: Client, task: EngineTask) => string | Promise<string>;
type Builders = { [S in TaskSpec as `${S['kind']}:${S['type']}`]?: (spec: S) => Select };

/** What can be pushed down; src/domain/pipelines/definition/choose-engine.ts asks for nothing else. */
const SELECTS: Builders = {
  'source:postgres':
    ({ table, query }) =>
    () =>
      query ?? `SELECT * FROM ${tableName(table ?? '').quoted}`,
  'transformation:sql':
    ({ sql }) =>
    () =>
      sql,
  'transformation:filter':
    ({ where }) =>
    (_, task) =>
      `SELECT * FROM ${inputOf(task)} WHERE (${where}\n)`,
  'transformation:rename': (spec) => async (client, task) => {
    const columns = await columnsOfView(client, only(task));
    assertKnown(Object.keys(spec.columns), columns);
    const list = columns.flatMap(({ name }) => {
      const renamed = spec.columns[name];
      if (renamed === undefined) return spec.keepOnlyNamed ? [] : [identifier(name)];
      return [`${identifier(name)} AS ${identifier(renamed)}`];
    });
    return `SELECT ${list.join(', ')} FROM ${inputOf(task)}`;
  },
  'transformation:deduplicate':
    ({ keys, orderBy = [] }) =>
    (_, task) => {
      const names = keys.map(identifier);
      return `SELECT DISTINCT ON (${names.join(', ')}) * FROM ${inputOf(task)} ORDER BY ${[...names, ...orderBy].join(', ')}`;
    },
  'transformation:aggregate':
    ({ groupBy = [], measures }) =>
    (_, task) => {
      const names = groupBy.map(identifier);
      const list = Object.entries(measures).map(([name, sql]) => `(${sql}\n) AS ${identifier(name)}`);
      const grouping = names.length > 0 ? ` GROUP BY ${names.join(', ')}` : '';
      return `SELECT ${[...names, ...list].join(', ')} FROM ${inputOf(task)}${grouping}`;
    },
  'transformation:join': (spec) => (client, task) => joinSelect(client, task, spec),
};

async function selectOf(client: Client, task: EngineTask): Promise<string> {
  const build = SELECTS[`${task.spec.kind}:${task.spec.type}` as keyof Builders] as
    | ((spec: TaskSpec) => Select)
    | undefined;
  if (!build) {
    throw new EngineError('SQL', `A ${task.spec.kind} of type ${task.spec.type} cannot be pushed down.`);
  }
  return build(task.spec)(client, task);
}

async function joinSelect(client: Client, task: EngineTask, spec: JoinTransformationSpec): Promise<string> {
  const [left, right] = task.inputs;
  if (left === undefined || right === undefined) {
    throw new EngineError('SQL', `The join "${task.id}" needs two inputs.`);
  }
  const how = spec.how ?? 'INNER';
  const from = `${viewName(left)} AS l`;
  const pairs = (
    Array.isArray(spec.on) ? spec.on.map((name) => [name, name]) : Object.entries(spec.on ?? {})
  ) as [string, string][];
  const condition = pairs.map(([l, r]) => `l.${identifier(l)} = r.${identifier(r)}`).join(' AND ');
  if (how === 'SEMI' || how === 'ANTI') {
    const negated = how === 'ANTI' ? 'NOT ' : '';
    return `SELECT l.* FROM ${from} WHERE ${negated}EXISTS (SELECT FROM ${viewName(right)} AS r WHERE ${condition})`;
  }
  const names = new Set((await columnsOfView(client, left)).map(({ name }) => name));
  const shared = new Set(pairs.filter(([l, r]) => l === r).map(([l]) => l));
  const ofLeft = [...names].map((name) =>
    shared.has(name)
      ? `coalesce(l.${identifier(name)}, r.${identifier(name)}) AS ${identifier(name)}`
      : `l.${identifier(name)}`,
  );
  const ofRight = (await columnsOfView(client, right))
    .filter(({ name }) => !shared.has(name))
    .map(({ name }) => {
      const as = names.has(name) ? `${spec.rightPrefix ?? 'right_'}${name}` : name;
      return `r.${identifier(name)} AS ${identifier(as)}`;
    });
  const on = how === 'CROSS' ? '' : ` ON ${condition}`;
  return `SELECT ${[...ofLeft, ...ofRight].join(', ')} FROM ${from} ${how} JOIN ${viewName(right)} AS r${on}`;
}

function only({ id, inputs }: EngineTask): string {
  const [input] = inputs;
  if (input === undefined) throw new EngineError('SQL', `"${id}" has no input.`);
  return input;
}

function inputOf(task: EngineTask): string {
  return viewName(only(task));
}

function assertKnown(names: readonly string[], columns: readonly ResultColumn[]): void {
  const unknown = names.filter((name) => !columns.some((column) => column.name === name));
  if (unknown.length > 0) throw new EngineError('SQL', `The input has no column ${unknown.join(', ')}.`);
}
