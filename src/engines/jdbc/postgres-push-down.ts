import type { Client } from 'pg';
import { DELETES } from '../batch/delete-when.js';
import { claimLoad, committedRows, prepareLoadRecords, recordLoadedRows } from '../batch/load-record.js';
import { assertKeysUsable, planLoad, writeStatements } from '../batch/postgres-load.js';
import { identifier } from '../batch/sql-text.js';
import type { EngineTask, TaskHooks, TaskOutcome } from '../engine.js';
import type { PostgresTargetSpec } from '../task-spec.js';
import { columnsOfView, createView, lookUpFor, viewName } from './postgres-view.js';
import {
  attributed,
  inputOf,
  mustBeStaged,
  outcomeOfUnit,
  partsOf,
  type TargetTask,
  written,
} from './pushed-unit.js';

/**
 * Every target of the unit in one transaction with the note that it was written, so that a failed or cancelled run
 * leaves all of them as they were, and a repeated one writes none of them twice.
 * @throws EngineError with the id of the task it can be traced to
 */
export async function pushDownToPostgres(
  client: Client,
  runId: string,
  unit: EngineTask,
  hooks: TaskHooks,
): Promise<TaskOutcome> {
  await prepareLoadRecords(client);
  await client.query('BEGIN');
  try {
    const outcomes = await carryOut(client, runId, unit, hooks);
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
  unit: EngineTask,
  hooks: TaskHooks,
): Promise<Map<string, TaskOutcome>> {
  const { steps, targets } = partsOf(unit, 'postgres');
  const outcomes = new Map<string, TaskOutcome>();
  for (const step of steps) outcomes.set(step.id, await attributed(step, () => view(client, step)));
  const loads: Load[] = [];
  for (const target of targets) {
    const load = () => stage(client, runId, target, mustBeStaged(targets));
    loads.push({ target, ...(await attributed(target, load)) });
  }
  for (const load of loads) {
    const { target, earlier } = load;
    const outcome = earlier ?? (await attributed(target, () => write(client, runId, load, hooks)));
    outcomes.set(target.id, outcome);
  }
  return outcomes;
}

async function view(client: Client, task: EngineTask): Promise<TaskOutcome> {
  await lookUpFor(client, task);
  await createView(client, task);
  return { rows: 0, columns: await columnsOfView(client, task.id) };
}

interface Load {
  target: TargetTask<PostgresTargetSpec>;
  /** What has its rows. */
  staging: string;
  /** Absent where they are not computed yet. */
  rows?: number;
  /** Of an attempt before this one. */
  earlier?: TaskOutcome;
}

async function stage(
  client: Client,
  runId: string,
  target: Load['target'],
  isStaged: boolean,
): Promise<Omit<Load, 'target'>> {
  const { id, spec } = target;
  const input = viewName(inputOf(target));
  if (!(await claimLoad(client, runId, id, 0))) {
    const rows = (await committedRows(client, runId, id)) ?? 0;
    return { staging: input, earlier: { rows, output: spec.table, alreadyDone: true } };
  }
  if (!isStaged) return { staging: input };
  await lookUpFor(client, target);
  const staging = `pg_temp.${identifier(`opsgraph ${id}`)}`;
  const deletes =
    spec.deleteWhen === undefined
      ? ''
      : `, coalesce((${spec.deleteWhen}\n), false) AS ${identifier(DELETES)}`;
  const made = await client.query({
    text: `CREATE TEMP TABLE ${staging} ON COMMIT DROP AS SELECT *${deletes} FROM ${input}`,
    queryMode: 'extended',
  } as { text: string });
  return { staging, rows: made.rowCount ?? 0 };
}

async function write(
  client: Client,
  runId: string,
  { target, staging, rows }: Load,
  hooks: TaskHooks,
): Promise<TaskOutcome> {
  await lookUpFor(client, target);
  const columns = await columnsOfView(client, inputOf(target));
  const plan = { ...(await planLoad(client, target.spec, columns)), staging };
  await assertKeysUsable(client, plan);
  let changed = 0;
  for (const statement of writeStatements(plan)) changed = (await client.query(statement)).rowCount ?? 0;
  const loaded = { rows: rows ?? changed, columns, added: plan.added };
  await recordLoadedRows(client, runId, target.id, loaded.rows);
  return written(target, loaded, hooks);
}
