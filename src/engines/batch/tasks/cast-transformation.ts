import type { TaskOutcome } from '../../engine.js';
import type { CastTransformationSpec } from '../../task-spec.js';
import { countRows } from '../counted-copy.js';
import { setAside } from '../quarantine.js';
import { exactSelect, resultPath, saveResult } from '../run-files.js';
import { fileLiteral, identifier, literal } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import { type Cast, castsOf, isBroken, tryCast } from '../transformations/cast-select.js';
import { onlyInput, type Relation, replacing } from '../transformations/relation.js';
import { runSelectTransformation } from './select-transformation.js';

export function runCast(context: TaskContext, spec: CastTransformationSpec): Promise<TaskOutcome> {
  return spec.onError === 'QUARANTINE' ? castOrSetAside(context, spec) : runSelectTransformation(context);
}

/** Rows with a value that does not cast are set aside; more of them than allowed fail the task, and nothing is saved. */
function castOrSetAside(context: TaskContext, spec: CastTransformationSpec): Promise<TaskOutcome> {
  const { task } = context;
  return withDuckDb(context, 'sandbox', async (connection) => {
    const [id = ''] = task.inputs;
    const file = fileLiteral(resultPath(context, id));
    await connection.run(`CREATE TEMP VIEW ${identifier(id)} AS FROM read_parquet(${file})`);
    const input = await onlyInput(context, connection);
    const casts = castsOf(spec, input);
    const numbered = `read_parquet(${file}, file_row_number = true)`;
    const rejects = identifier(`rejects of ${task.id}`);
    await connection.run(`CREATE TEMP TABLE ${rejects} AS ${rejectsSelect(input, casts, numbered)}`);
    const healing = await setAside(context, connection, {
      from: rejects,
      total: await countRows(connection, identifier(id)),
      quarantine: spec.quarantine ?? { maxShare: 0 },
      kind: 'SQL',
    });
    const list = replacing(input, new Map(casts.map((cast) => [cast.name, tryCast(cast)])));
    const kept = casts.map((cast) => `NOT (${isBroken(cast)})`).join(' AND ');
    const view = identifier(`result of ${task.id}`);
    await connection.run(`CREATE TEMP VIEW ${view} AS ${list} WHERE ${kept}`);
    const saved = await saveResult(context, connection, await exactSelect(connection, view));
    context.log('INFO', `${task.id}: ${saved.rows} rows`);
    return { ...saved, ...(healing.length > 0 && { healing }) };
  });
}

/** A line for each value that does not cast. */
function rejectsSelect(input: Relation, casts: readonly Cast[], numbered: string): string {
  const values = input.columns.map(({ name }) => `${identifier(name)} := ${identifier(name)}`).join(', ');
  const lines = casts.map(
    (cast) => `SELECT NULL::VARCHAR AS file, file_row_number + 1 AS row, ${literal(cast.name)} AS "column",
      ${literal(`a value does not cast from ${cast.from} to ${cast.to}`)} AS reason,
      to_json(struct_pack(${values}))::VARCHAR AS raw FROM ${numbered} WHERE ${isBroken(cast)}`,
  );
  return lines.join(' UNION ALL ');
}
