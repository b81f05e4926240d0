import type { QualityCheckResult } from '../../engine.js';
import type { QualityCheckSpec } from '../../task-spec.js';
import { toEngineError } from '../classify-error.js';
import { describeColumns, resultOf } from '../run-files.js';
import { identifier } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import type { Checked, Found } from './checked.js';
import { type Measured, measureOf } from './measures.js';
import { queryOf } from './queries.js';

/**
 * Tries the task's checks on its saved result and reports all of them in their order; what a failure means is not
 * decided here. All that is asked of single rows is one pass over the data. A check that cannot be tried, for example
 * because its column is missing, has not passed and says why.
 * @throws EngineError when the engine rather than the check failed: memory, disk, cancelled
 */
export function runChecks(
  context: TaskContext,
  checks: readonly QualityCheckSpec[],
  now = Date.now(),
): Promise<QualityCheckResult[]> {
  return withDuckDb(context, 'sandbox', async (connection) => {
    // Under the task's id, so that customSql can name it.
    const from = identifier(context.task.id);
    await connection.run(`CREATE TEMP VIEW ${from} AS FROM ${resultOf(context, context.task.id)}`);
    const checked: Checked = {
      context,
      connection,
      from,
      columns: await describeColumns(connection, from),
      now,
    };
    const found = await inOnePass(checked, checks);
    const results: QualityCheckResult[] = [];
    for (const check of checks) {
      const one = found.get(check) ?? (await judgedOrRefused(() => queryOf(checked, check)));
      results.push({ index: check.index, ...one });
    }
    for (const { passed, message } of results)
      context.log(passed ? 'INFO' : 'WARN', `${context.task.id}: ${message}`);
    return results;
  });
}

/** One aggregate SELECT for all checks that are one; each by itself when together they fail, to find the one that does. */
async function inOnePass(
  checked: Checked,
  checks: readonly QualityCheckSpec[],
): Promise<Map<QualityCheckSpec, Found>> {
  const found = new Map<QualityCheckSpec, Found>();
  const measures = new Map<QualityCheckSpec, Measured>();
  for (const check of checks) {
    const refused = await judgedOrRefused(async () => {
      const measure = measureOf(check, checked);
      if (measure) measures.set(check, measure);
    });
    if (refused) found.set(check, refused);
  }
  if (measures.size === 0) return found;
  const judge = async (part: readonly [QualityCheckSpec, Measured][]) => {
    const values = await selectOne(
      checked,
      part.map(([, { sql }]) => sql),
    );
    for (const [index, [check, measure]] of part.entries()) found.set(check, measure.judge(values[index]));
  };
  if (!(await judgedOrRefused(() => judge([...measures])))) return found;
  for (const one of measures) {
    const failure = await judgedOrRefused(() => judge([one]));
    if (failure) found.set(one[0], failure);
  }
  return found;
}

async function selectOne({ connection, from }: Checked, expressions: readonly string[]): Promise<unknown[]> {
  const list = expressions.map((expression, index) => `${expression} AS m${index}`).join(', ');
  const reader = await connection.runAndReadAll(`SELECT ${list} FROM ${from}`);
  return reader.getRowsJson()[0] ?? [];
}

/** What the work finds, or that the check has not passed when it is the check that failed and not the engine. */
async function judgedOrRefused<T>(work: () => Promise<T>): Promise<T | Found> {
  try {
    return await work();
  } catch (error) {
    const known = toEngineError(error, 'SQL');
    if (known.kind !== 'SQL') throw error;
    return { passed: false, message: `The check cannot be tried: ${known.message.split('\n\n')[0]}` };
  }
}
