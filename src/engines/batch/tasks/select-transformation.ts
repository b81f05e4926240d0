import type { TaskOutcome } from '../../engine.js';
import { saveResult } from '../run-files.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import { transformationSelect } from '../transformations/transformation-select.js';

/** A transformation that is one SELECT over its inputs, which it sees as views under their ids and nothing besides. */
export function runSelectTransformation(context: TaskContext): Promise<TaskOutcome> {
  return withDuckDb(context, 'sandbox', async (connection) => {
    const { select } = await transformationSelect(context, connection);
    const saved = await saveResult(context, connection, select);
    context.log('INFO', `${context.task.id}: ${saved.rows} rows`);
    return saved;
  });
}
