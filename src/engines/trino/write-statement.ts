import { assertKeysKnown } from '../batch/load-input.js';
import { identifier, literal } from '../batch/sql-text.js';
import type { EngineTask, ResultColumn } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type { MysqlTargetSpec, PostgresTargetSpec } from '../task-spec.js';
import { type GraphQuery, nameOf } from './graph-query.js';

export type TrinoTargetSpec = PostgresTargetSpec | MysqlTargetSpec;

/** Names with a space, which a column of an input hardly has. */
const SAME_KEY = identifier('opsgraph same key');
const DELETES = identifier('opsgraph delete');

export interface Write {
  task: EngineTask;
  spec: TrinoTargetSpec;
  query: GraphQuery;
  columns: readonly ResultColumn[];
  /** Ready to stand in a statement. */
  table: string;
}

/** One statement, so that the connector writes all of it or nothing. @throws EngineError TARGET or SQL */
export async function writeStatement(write: Write): Promise<string> {
  const { task, spec, query, columns, table } = write;
  const [input] = task.inputs;
  if (input === undefined) throw new EngineError('TARGET', `The target "${task.id}" has no input.`);
  assertKeysKnown(spec, columns);
  const names = columns.map(({ name }) => identifier(name));
  if (spec.mode === 'APPEND') {
    return `INSERT INTO ${table} (${names.join(', ')}) ${query.with()} SELECT ${names.join(', ')} FROM ${nameOf(input)}`;
  }
  return mergeStatement(write, nameOf(input), names);
}

async function mergeStatement(
  { task, spec, query, table }: Write,
  input: string,
  names: readonly string[],
): Promise<string> {
  const keys = (spec.keys ?? []).map(identifier);
  const { deleteWhen } = spec;
  const marked =
    deleteWhen === undefined
      ? `SELECT ${names.join(', ')} FROM ${input}`
      : await query.translated(
          task,
          `SELECT ${names.join(', ')}, coalesce((${deleteWhen}\n), false) AS ${DELETES} FROM ${input}`,
        );
  const on = keys.map((key) => `target.${key} = source.${key}`).join(' AND ');
  const sets = names.filter((name) => !keys.includes(name)).map((name) => `${name} = source.${name}`);
  const values = names.map((name) => `source.${name}`).join(', ');
  return [
    `MERGE INTO ${table} AS target USING (${query.with()}, ${identifier('opsgraph input')} AS (\n${marked}\n)`,
    `SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY ${keys.join(', ')}) AS ${SAME_KEY} FROM ${identifier('opsgraph input')})`,
    `WHERE ${keysAreUsable(spec, keys)}) AS source ON ${on}`,
    ...(deleteWhen === undefined ? [] : [`WHEN MATCHED AND source.${DELETES} THEN DELETE`]),
    ...(sets.length > 0 ? [`WHEN MATCHED THEN UPDATE SET ${sets.join(', ')}`] : []),
    `WHEN NOT MATCHED${deleteWhen === undefined ? '' : ` AND NOT source.${DELETES}`} THEN INSERT (${names.join(', ')}) VALUES (${values})`,
  ].join('\n');
}

/** Fails the statement where a key is null or there twice: MERGE would insert such rows once more each time. */
function keysAreUsable({ mode, table, keys = [] }: TrinoTargetSpec, names: readonly string[]): string {
  const message = `${mode} into ${table}: a key (${keys.join(', ')}) is null or there are several rows with it`;
  const nulls = names.map((name) => `${name} IS NULL`).join(' OR ');
  return `CASE WHEN ${SAME_KEY} > 1 OR ${nulls} THEN CAST(${literal(message)} AS boolean) ELSE true END`;
}
