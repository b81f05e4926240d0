import { DELETES } from '../batch/delete-when.js';
import type { MysqlClient } from '../batch/mysql-client.js';
import {
  assertMysqlKeysUsable,
  createMysqlStaging,
  indexMysqlStaging,
  type MysqlLoadPlan,
  mysqlWriteStatements,
  planMysqlLoad,
  prepareMysqlTarget,
} from '../batch/mysql-load.js';
import {
  claimMysqlLoad,
  committedMysqlRows,
  lockMysqlTables,
  prepareMysqlLoadRecords,
  recordMysqlRows,
} from '../batch/mysql-load-record.js';
import { mysqlIdentifier } from '../batch/mysql-text.js';
import { mysqlOwnTypes } from '../batch/mysql-types.js';
import type { EngineTask, TaskHooks, TaskOutcome } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type { MysqlTargetSpec } from '../task-spec.js';
import { MysqlGraphQuery } from './mysql-graph-query.js';
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
 * As in PostgreSQL, every target in one transaction with the note that it was written. What MySQL would commit at once,
 * a table or column that is lacking, is made right before it, when all that is to be written is known to be sound.
 * @throws EngineError with the id of the task it can be traced to
 */
export async function pushDownToMysql(
  client: MysqlClient,
  runId: string,
  unit: EngineTask,
  hooks: TaskHooks,
): Promise<TaskOutcome> {
  const { steps, targets } = partsOf(unit, 'mysql');
  await prepareMysqlLoadRecords(client);
  await readCommitted(client);
  await lockMysqlTables(
    client,
    targets.map(({ spec }) => spec.table),
  );
  const outcomes = await earlierOutcomes(targets, (id) => committedMysqlRows(client, runId, id));
  const open = targets.filter(({ id }) => !outcomes.has(id));
  if (open.length === 0) return outcomeOfUnit(unit, outcomes);

  const graph = new MysqlGraphQuery(client);
  for (const step of steps) {
    outcomes.set(step.id, { rows: 0, columns: await attributed(step, () => graph.add(step)) });
  }
  const loads: Load[] = [];
  for (const [index, target] of open.entries()) {
    const staging = { name: mysqlIdentifier(`opsgraph_staging_${index}`), isNeeded: mustBeStaged(targets) };
    loads.push(await attributed(target, () => stage(client, graph, target, staging)));
  }
  const prepared: Load[] = [];
  for (const load of loads) {
    prepared.push(await attributed(load.target, () => prepare(client, graph, load)));
  }
  for (const [{ target, plan }, rows] of await commit(client, runId, prepared)) {
    const columns = graph.columnsOf(inputOf(target));
    outcomes.set(target.id, written(target, { rows, columns, added: plan.added }, hooks));
  }
  return outcomeOfUnit(unit, outcomes);
}

type Target = TargetTask<MysqlTargetSpec>;

interface Load {
  target: Target;
  plan: MysqlLoadPlan;
  /** Has the rows where they are not staged. */
  insert?: string;
  /** How many are staged. */
  rows: number;
}

/** INSERT ... SELECT otherwise locks every row it reads. Not where the binary log holds statements, which need those locks. */
async function readCommitted(client: MysqlClient): Promise<void> {
  const [log] = await client.rows<{ Value: string }>("SHOW VARIABLES LIKE 'binlog_format'");
  if (log?.Value === 'STATEMENT') return;
  await client.change('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
}

function planOf(client: MysqlClient, graph: MysqlGraphQuery, target: Target): Promise<MysqlLoadPlan> {
  const columns = graph.columnsOf(inputOf(target));
  return planMysqlLoad(
    client,
    target.spec,
    columns.map(({ name, type }) => ({ name, ...mysqlOwnTypes(type) })),
  );
}

/**
 * Computes what is to be written, into a table of the target's own column types. Also where a table or column has yet to be
 * made: it would stay when only then a row turned out to be impossible.
 */
async function stage(
  client: MysqlClient,
  graph: MysqlGraphQuery,
  target: Target,
  staging: { name: string; isNeeded: boolean },
): Promise<Load> {
  const plan = { ...(await planOf(client, graph, target)), staging: staging.name };
  const isStaged = staging.isNeeded || !plan.exists || plan.added.length > 0;
  const { deleteWhen } = target.spec;
  const names = plan.columns.map(({ name }) => mysqlIdentifier(name));
  const values = [...names];
  if (deleteWhen !== undefined) {
    names.push(mysqlIdentifier(DELETES));
    values.push(`coalesce((${deleteWhen}\n), false)`);
  }
  const select = graph.select(values.join(', '), inputOf(target));
  const insertInto = (table: string) => `INSERT INTO ${table} (${names.join(', ')}) ${select}`;
  if (!isStaged) return { target, plan, insert: insertInto(plan.target), rows: 0 };
  await createMysqlStaging(client, plan);
  const rows = await client.change(insertInto(plan.staging));
  await indexMysqlStaging(client, plan);
  await assertMysqlKeysUsable(client, plan);
  return { target, plan, rows };
}

/** Looks at the table once more, which the target before may have made or widened. */
async function prepare(client: MysqlClient, graph: MysqlGraphQuery, load: Load): Promise<Load> {
  const plan = { ...(await planOf(client, graph, load.target)), staging: load.plan.staging };
  await prepareMysqlTarget(client, plan);
  return { ...load, plan };
}

/** Gives how many rows each has written. */
async function commit(
  client: MysqlClient,
  runId: string,
  loads: readonly Load[],
): Promise<Map<Load, number>> {
  const written = new Map<Load, number>();
  await client.change('START TRANSACTION');
  try {
    for (const load of loads)
      written.set(load, await attributed(load.target, () => write(client, runId, load)));
    await client.change('COMMIT');
    return written;
  } catch (error) {
    await client.change('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function write(
  client: MysqlClient,
  runId: string,
  { target, plan, insert, rows }: Load,
): Promise<number> {
  if (!(await claimMysqlLoad(client, runId, target.id, rows))) {
    const message = `Another worker has written ${target.spec.table} meanwhile.`;
    throw new EngineError('TARGET', message, { transient: true });
  }
  if (insert === undefined) {
    for (const statement of mysqlWriteStatements(plan)) await client.change(statement);
    return rows;
  }
  const inserted = await client.change(insert);
  await recordMysqlRows(client, runId, target.id, inserted);
  return inserted;
}
