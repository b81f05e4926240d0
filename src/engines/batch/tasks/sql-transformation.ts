import type { TaskOutcome } from '../../engine.js';
import type { SqlTransformationSpec } from '../../task-spec.js';
import { exactSelect, resultOf, resultPath, saveResult } from '../run-files.js';
import { assertReadsOnly } from '../select-only.js';
import { identifier } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';

/** Holds a space, which no task id may, so the author's SQL cannot name it. */
const RESULT_VIEW = identifier('opsgraph result');

/** One SELECT over the inputs, which it sees as views under their task ids and nothing besides. */
export function runSqlTransformation(
  context: TaskContext,
  spec: SqlTransformationSpec,
): Promise<TaskOutcome> {
  const { task } = context;
  return withDuckDb(context, 'sandbox', async (connection) => {
    await assertReadsOnly(connection, spec.sql, task.inputs);
    for (const input of task.inputs) {
      await connection.run(`CREATE TEMP VIEW ${identifier(input)} AS FROM ${resultOf(context, input)}`);
    }
    // Binding the text on its own gives errors with the positions of the author's SQL.
    (await connection.prepare(spec.sql)).destroySync();
    // A prefix only: text that is one statement by itself cannot break out of it as it could out of parentheses.
    await connection.run(`CREATE TEMP VIEW ${RESULT_VIEW} AS ${spec.sql}`);
    const { rows, bytes } = await saveResult(context, connection, await exactSelect(connection, RESULT_VIEW));
    context.log('INFO', `${task.id}: ${rows} rows`);
    return { rows, bytes, output: resultPath(context, task.id) };
  });
}
