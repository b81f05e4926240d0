import type { TaskOutcome } from '../../engine.js';
import { saveResult } from '../run-files.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import { transformationSelect } from '../transformations/transformation-select.js';

/** One SELECT over the inputs, which it sees as views under their task ids and nothing besides. */
export function runSqlTransformation(context: TaskContext): Promise<TaskOutcome> {
  return withDuckDb(context, 'sandbox', async (connection) => {
    const saved = await saveResult(context, connection, await transformationSelect(context, connection));
    context.log('INFO', `${context.task.id}: ${saved.rows} rows`);
    return saved;
  });
}
