import type { Client } from 'pg';
import { toEngineError } from '../batch/classify-error.js';
import { DELETES } from '../batch/delete-when.js';
import { widened } from '../batch/load-input.js';
import { claimLoad, committedRows, prepareLoadRecords, recordLoadedRows } from '../batch/load-record.js';
import { assertKeysUsable, type LoadPlan, planLoad, writeStatements } from '../batch/postgres-load.js';
import { identifier } from '../batch/sql-text.js';
import type { EngineTask, TaskHooks, TaskOutcome, WithinOutcome } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type { PostgresTargetSpec } from '../task-spec.js';
import { columnsOfView, createView, lookUpFor, viewName } from './task-view.js';

type TargetTask = EngineTask & { spec: PostgresTargetSpec };

/**
 * Every target of the unit in one transaction with the note that it was written, so that a failed or cancelled run
 * leaves all of them as they were, and a repeated one writes none of them twice.
 * @throws EngineError with the id of the task it can be traced to
 */
export async function pushDown(
  client: Client,
  runId: string,
  unit: EngineTask,
  hooks: TaskHooks,
): Promise<TaskOutcome> {
  await prepareLoadRecords(client);
  const tasks = [...(unit.within ?? []), unit];
  await client.query('BEGIN');
  try {
    const outcomes = new Map<string, TaskOutcome>();
    for (const task of tasks) outcomes.set(task.id, await carryOut(client, runId, task, hooks));
    await client.query('COMMIT');
    return outcomeOfUnit(unit, outcomes);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function carryOut(
  client: Client,
  runId: string,
  task: EngineTask,
  hooks: TaskHooks,
): Promise<TaskOutcome> {
  try {
    await lookUpFor(client, task);
    if (isTarget(task)) return await write(client, runId, task, hooks);
    await createView(client, task);
    return { rows: 0, columns: await columnsOfView(client, task.id) };
  } catch (error) {
    const known = toEngineError(error, task.spec.kind === 'target' ? 'TARGET' : 'SQL');
    throw new EngineError(known.kind, known.message, {
      transient: known.transient,
      taskId: task.id,
      cause: error,
    });
  }
}

function isTarget(task: EngineTask): task is TargetTask {
  return task.spec.kind === 'target' && task.spec.type === 'postgres';
}

async function write(
  client: Client,
  runId: string,
  { id, inputs, spec }: TargetTask,
  hooks: TaskHooks,
): Promise<TaskOutcome> {
  const [input] = inputs;
  if (input === undefined) throw new EngineError('TARGET', `The target "${id}" has no input.`);
  if (!(await claimLoad(client, runId, id, 0))) {
    const rows = (await committedRows(client, runId, id)) ?? 0;
    return { rows, output: spec.table, alreadyDone: true };
  }
  const columns = await columnsOfView(client, input);
  const plan = { ...(await planLoad(client, spec, columns)), staging: viewName(input) };
  const rows =
    plan.keys.length > 0 ? await writeByKey(client, id, plan, spec) : await insertSelect(client, plan);
  await recordLoadedRows(client, runId, id, rows);
  const healing = widened(spec.table, plan.added);
  for (const { reason } of healing) hooks.log('WARN', `${id}: ${reason}`);
  hooks.log('INFO', `${id}: ${rows} rows to ${spec.table} of ${spec.connection} (${spec.mode}, pushed down)`);
  return { rows, output: spec.table, columns, ...(healing.length > 0 && { healing }) };
}

async function insertSelect(client: Client, plan: LoadPlan): Promise<number> {
  let rows = 0;
  for (const statement of writeStatements(plan)) rows = (await client.query(statement)).rowCount ?? 0;
  return rows;
}

/** The input is needed more than once (its keys are looked at first), so it is computed once. */
async function writeByKey(
  client: Client,
  id: string,
  plan: LoadPlan,
  { deleteWhen }: PostgresTargetSpec,
): Promise<number> {
  const staging = `pg_temp.${identifier(`opsgraph ${id}`)}`;
  const deletes =
    deleteWhen === undefined ? '' : `, coalesce((${deleteWhen}\n), false) AS ${identifier(DELETES)}`;
  const made = await client.query({
    text: `CREATE TEMP TABLE ${staging} ON COMMIT DROP AS SELECT *${deletes} FROM ${plan.staging}`,
    queryMode: 'extended',
  } as { text: string });
  const staged = { ...plan, staging };
  await assertKeysUsable(client, staged);
  for (const statement of writeStatements(staged)) await client.query(statement);
  return made.rowCount ?? 0;
}

function outcomeOfUnit(unit: EngineTask, outcomes: ReadonlyMap<string, TaskOutcome>): TaskOutcome {
  const within = (unit.within ?? []).map(({ id, spec }): [string, WithinOutcome] => {
    const outcome = outcomes.get(id);
    const columns = outcome?.columns ?? [];
    // The rows of a view are nobody's to count without computing it once more.
    return [id, spec.kind === 'target' ? { rows: outcome?.rows ?? 0, columns } : { columns }];
  });
  return { rows: 0, ...outcomes.get(unit.id), within: Object.fromEntries(within) };
}
