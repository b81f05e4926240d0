import type { Client } from 'pg';
import { DELETES } from '../batch/delete-when.js';
import { claimLoad, committedRows, prepareLoadRecords, recordLoadedRows } from '../batch/load-record.js';
import { assertKeysUsable, planInTransaction, writeStatements } from '../batch/postgres-load.js';
import { identifier } from '../batch/sql-text.js';
import type { EngineTask, TaskHooks, TaskOutcome } from '../engine.js';
import type { PostgresTargetSpec } from '../task-spec.js';
import { columnsOfView, createView, lookUpFor, viewName } from './postgres-view.js';
import {
  attributed,
  earlierOutcomes,
  inputOf,
  mustBeStaged,
  outcomeOfUnit,
  partsOf,
  type TargetTask,
  written,
} from './pushed-unit.js';

/**
 * What the targets write is computed in one snapshot, then all of them are written in one transaction with the note that
 * they were, so that a failed or cancelled run leaves all of them as they were, and a repeated one writes none twice.
 * @throws EngineError with the id of the task it can be traced to
 */
export async function pushDownToPostgres(
  client: Client,
  runId: string,
  unit: EngineTask,
  hooks: TaskHooks,
): Promise<TaskOutcome> {
  const { steps, targets } = partsOf(unit, 'postgres');
  await prepareLoadRecords(client);
  const outcomes = await earlierOutcomes(targets, (id) => committedRows(client, runId, id));
  const open = targets.filter(({ id }) => !outcomes.has(id));
  if (open.length === 0) return outcomeOfUnit(unit, outcomes);

  const loads = await inTransaction(client, 'REPEATABLE READ', async () => {
    for (const step of steps) outcomes.set(step.id, await attributed(step, () => view(client, step)));
    const staged: Load[] = [];
    for (const target of open)
      staged.push(await attributed(target, () => stage(client, target, mustBeStaged(targets))));
    return staged;
  });
  // Here a snapshot would keep what others have committed since from being overwritten, and updates of it from being done.
  await inTransaction(client, 'READ COMMITTED', async () => {
    for (const load of loads) {
      const { target } = load;
      outcomes.set(target.id, await attributed(target, () => write(client, runId, load, hooks)));
    }
  });
  return outcomeOfUnit(unit, outcomes);
}

async function inTransaction<T>(client: Client, isolation: string, work: () => Promise<T>): Promise<T> {
  await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function view(client: Client, task: EngineTask): Promise<TaskOutcome> {
  await lookUpFor(client, task);
  await createView(client, task);
  return { rows: 0, columns: await columnsOfView(client, task.id) };
}

type Target = TargetTask<PostgresTargetSpec>;

interface Load {
  target: Target;
  /** What has its rows: a table that goes with the connection, or the view of the input. */
  staging: string;
  /** Absent where they are not computed yet. */
  rows?: number;
}

async function stage(client: Client, target: Target, isStaged: boolean): Promise<Load> {
  const { id, spec } = target;
  const input = viewName(inputOf(target));
  if (!isStaged) return { target, staging: input };
  await lookUpFor(client, target);
  const staging = `pg_temp.${identifier(`opsgraph ${id}`)}`;
  const deletes =
    spec.deleteWhen === undefined
      ? ''
      : `, coalesce((${spec.deleteWhen}\n), false) AS ${identifier(DELETES)}`;
  const made = await client.query({
    text: `CREATE TEMP TABLE ${staging} AS SELECT *${deletes} FROM ${input}`,
    queryMode: 'extended',
  } as { text: string });
  return { target, staging, rows: made.rowCount ?? 0 };
}

async function write(
  client: Client,
  runId: string,
  { target, staging, rows }: Load,
  hooks: TaskHooks,
): Promise<TaskOutcome> {
  const { id, spec } = target;
  if (!(await claimLoad(client, runId, id, 0))) {
    const earlier = (await committedRows(client, runId, id)) ?? 0;
    return { rows: earlier, output: spec.table, alreadyDone: true };
  }
  await lookUpFor(client, target);
  const columns = await columnsOfView(client, inputOf(target));
  const plan = { ...(await planInTransaction(client, spec, columns)), staging };
  await assertKeysUsable(client, plan);
  let changed = 0;
  for (const statement of writeStatements(plan)) changed = (await client.query(statement)).rowCount ?? 0;
  const loaded = { rows: rows ?? changed, columns, added: plan.added };
  await recordLoadedRows(client, runId, id, loaded.rows);
  return written(target, loaded, hooks);
}
