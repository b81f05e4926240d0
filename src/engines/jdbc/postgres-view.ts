import { type Client, DatabaseError } from 'pg';
import { identifier } from '../batch/sql-text.js';
import { queryOf } from '../batch/tasks/postgres-source.js';
import type { EngineTask, ResultColumn } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type { AggregateTransformationSpec } from '../task-spec.js';
import { type SelectDialect, transformationSelect } from './transformation-select.js';

/** PostgreSQL folds a name without quotes to lower case, and so authors will write it. */
export function viewName(taskId: string): string {
  return `pg_temp.${unqualified(taskId)}`;
}

function unqualified(taskId: string): string {
  return identifier(taskId.toLowerCase());
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
  await createViewAs(client, unqualified(task.id), task);
  if (task.spec.type === 'aggregate') await assertOnePerGroup(client, task, task.spec);
}

async function createViewAs(client: Client, name: string, task: EngineTask): Promise<void> {
  // The extended protocol takes one statement only, and a view takes nothing but a query: no text can write here.
  await client.query({
    text: `CREATE TEMP VIEW ${name} AS ${await selectOf(client, task)}`,
    queryMode: 'extended',
  } as { text: string });
}

/** Of a set PostgreSQL makes a row for each value, except in a CASE, which cannot stay: it loses the precision of a type. */
async function assertOnePerGroup(
  client: Client,
  task: EngineTask,
  spec: AggregateTransformationSpec,
): Promise<void> {
  const cases = Object.entries(spec.measures).map(([name, sql]) => [
    name,
    `CASE WHEN true THEN (${sql}\n) END`,
  ]);
  const name = identifier('opsgraph measures');
  try {
    await createViewAs(client, name, { ...task, spec: { ...spec, measures: Object.fromEntries(cases) } });
  } catch (cause) {
    if (!(cause instanceof DatabaseError && cause.code === '0A000')) throw cause;
    throw new EngineError('SQL', 'measures: A set-returning function gives several rows, not one value.', {
      cause,
    });
  }
  await client.query(`DROP VIEW pg_temp.${name}`);
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

const DIALECT: SelectDialect = {
  identifier,
  folded: (name) => name,
  hasFullJoin: true,
  firstOfEach: async ({ relation, alias }, keys, orderBy) =>
    `SELECT DISTINCT ON (${keys.join(', ')}) * FROM ${relation} AS ${alias} ORDER BY ${[...keys, ...orderBy].join(', ')}`,
};

async function selectOf(client: Client, { inputs, spec }: EngineTask): Promise<string> {
  if (spec.kind === 'source' && spec.type === 'postgres') return queryOf(spec);
  if (spec.kind === 'transformation' && spec.type === 'sql') return spec.sql;
  const read = inputs.map((id) => ({
    relation: viewName(id),
    alias: unqualified(id),
    columns: () => columnsOfView(client, id),
  }));
  return transformationSelect(spec, read, DIALECT);
}
