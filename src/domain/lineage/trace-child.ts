import '../../outlive-signals.js';
// Before the first piece of work: its deadline is not for loading.
import '@polyglot-sql/sdk';
import { serveParent } from '../../bounded-process.js';
import { traceColumns } from './column-lineage.js';
import type { TraceAnswer, TraceWork } from './trace-process.js';

/** An event of more is megabytes, which no receiver takes. */
const MAX_INPUT_FIELDS = 20_000;

serveParent(async ({ tasks, columns, datasets }: TraceWork): Promise<TraceAnswer> => {
  try {
    const traced = await traceColumns(tasks, columns, datasets);
    const targets = new Map(
      tasks.filter(({ kind }) => kind === 'target').map(({ id }) => [id, traced.get(id) ?? new Map()]),
    );
    const fields = targets
      .values()
      .flatMap((lineage) => lineage.values())
      .reduce((sum, from) => sum + from.length, 0);
    return fields > MAX_INPUT_FIELDS ? { tooLarge: `${fields} input fields` } : targets;
  } catch (error) {
    if (error instanceof RangeError) return { tooLarge: error.message };
    throw error;
  }
});
