import type { DuckDBConnection } from '@duckdb/node-api';
import type { ResultColumn } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import { describeColumns } from '../run-files.js';
import { identifier } from '../sql-text.js';
import type { TaskContext } from '../task-context.js';

/** An input of a transformation: a view under the id of its task. */
export interface Relation {
  name: string;
  columns: readonly ResultColumn[];
}

const NAMES_SHOWN = 20;

/** @throws EngineError SQL unless the task has exactly `count` inputs */
export async function inputsOf(
  { task }: TaskContext,
  connection: DuckDBConnection,
  count: number,
): Promise<Relation[]> {
  if (task.inputs.length !== count) {
    const wanted = count === 1 ? 'one input' : `${count} inputs`;
    throw new EngineError('SQL', `${task.spec.type} takes ${wanted}, not ${task.inputs.length}.`);
  }
  const relations: Relation[] = [];
  for (const name of task.inputs)
    relations.push({ name, columns: await describeColumns(connection, identifier(name)) });
  return relations;
}

/** @throws EngineError SQL unless the task has exactly one input */
export async function onlyInput(context: TaskContext, connection: DuckDBConnection): Promise<Relation> {
  const [input] = await inputsOf(context, connection, 1);
  if (!input) throw new Error(`Task ${context.task.id} lost its input.`);
  return input;
}

/** DuckDB does not tell names by case. */
export function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** A sentence that names the columns there are. */
export function noColumn(name: string, { name: input, columns }: Relation): string {
  const names = columns.slice(0, NAMES_SHOWN).map((column) => column.name);
  const more = columns.length > NAMES_SHOWN ? ` and ${columns.length - NAMES_SHOWN} more` : '';
  return `There is no column "${name}" in ${input} (columns: ${names.join(', ')}${more})`;
}

/** The column of that name, as the input spells it. @throws EngineError SQL, naming the field of the definition */
export function columnOf(input: Relation, name: string, field: string): ResultColumn {
  const column = input.columns.find((each) => sameName(each.name, name));
  if (!column) throw new EngineError('SQL', `${field}: ${noColumn(name, input)}.`);
  return column;
}

/** @throws EngineError SQL when a name occurs twice */
export function assertDistinct(names: readonly string[], field: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    const folded = name.toLowerCase();
    if (seen.has(folded)) throw new EngineError('SQL', `${field}: two columns would be named "${name}".`);
    seen.add(folded);
  }
}

/** A name that no column of the input has. */
export function freeName({ columns }: Relation, wish: string): string {
  let name = wish;
  while (columns.some((column) => sameName(column.name, name))) name += '_';
  return name;
}

/** A SELECT list in the input's order, with other expressions for some of its columns (by their name). */
export function replacing(input: Relation, replaced: ReadonlyMap<string, string>): string {
  const list = input.columns.map(({ name }) => {
    const expression = replaced.get(name);
    return expression === undefined ? identifier(name) : `${expression} AS ${identifier(name)}`;
  });
  return `SELECT ${list.join(', ')} FROM ${identifier(input.name)}`;
}
