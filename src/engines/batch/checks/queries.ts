import { EngineError } from '../../engine-error.js';
import type { QualityCheckSpec } from '../../task-spec.js';
import { describeColumns, resultOf } from '../run-files.js';
import { assertReadsOnly } from '../select-only.js';
import { identifier } from '../sql-text.js';
import type { Checked, Found } from './checked.js';
import { checkedColumn } from './checked-column.js';
import { rowsText } from './measures.js';

type Queried = Extract<QualityCheckSpec, { type: 'unique' | 'referential' | 'customSql' }>;
type Queries = { [C in Queried as C['type']]: (checked: Checked, check: C) => Promise<Found> };

const QUERIES: Queries = {
  /** As UNIQUE in SQL: a row with a null among the columns equals no other. */
  unique: async (checked, { columns }) => {
    const names = columns.map((column) => identifier(checkedColumn(checked, column).name));
    const present = names.map((name) => `${name} IS NOT NULL`).join(' AND ');
    const failedRows = await count(
      checked,
      `SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM ${checked.from}
        WHERE ${present} GROUP BY ${names.join(', ')} HAVING count(*) > 1)`,
    );
    const list = columns.map((column) => `"${column}"`).join(', ');
    return found(failedRows, `${list} is unique`, (rows) => `${list} is not unique: ${rows} share a value`);
  },
  referential: async (checked, { column, references }) => {
    const { name } = checkedColumn(checked, column);
    const from = resultOf(checked.context, references.task);
    const columns = await describeColumns(checked.connection, from);
    const other = columns.find((each) => each.name.toLowerCase() === references.column.toLowerCase());
    if (!other)
      throw new EngineError('SQL', `the result of ${references.task} has no column "${references.column}".`);
    const failedRows = await count(
      checked,
      `SELECT count(*) FROM (FROM ${checked.from} WHERE ${identifier(name)} IS NOT NULL) AS c
        ANTI JOIN ${from} AS p ON c.${identifier(name)} = p.${identifier(other.name)}`,
    );
    const target = `"${references.column}" of ${references.task}`;
    return found(
      failedRows,
      `every "${column}" is in ${target}`,
      (rows) => `"${column}" is not in ${target} in ${rows}`,
    );
  },
  customSql: async (checked, { sql }) => {
    const { connection, context } = checked;
    await assertReadsOnly(connection, sql, [context.task.id]);
    (await connection.prepare(sql)).destroySync();
    // A prefix only, as of a transformation: the text cannot break out of it.
    const view = identifier(`check of ${context.task.id}`);
    await connection.run(`CREATE OR REPLACE TEMP VIEW ${view} AS ${sql}`);
    const failedRows = await count(checked, `SELECT count(*) FROM ${view}`);
    return found(failedRows, 'the SQL yields no row', (rows) => `the SQL yields ${rows}`);
  },
};

/** A check that needs a query of its own. @throws EngineError SQL when it cannot be tried */
export function queryOf(checked: Checked, check: QualityCheckSpec): Promise<Found> {
  const query = QUERIES[check.type as Queried['type']] as
    | ((checked: Checked, check: QualityCheckSpec) => Promise<Found>)
    | undefined;
  if (!query) throw new Error(`The engine has no check of type ${check.type}.`);
  return query(checked, check);
}

async function count({ connection }: Checked, sql: string): Promise<number> {
  const counted = await connection.runAndReadAll(sql);
  return Number(counted.value(0, 0));
}

function found(failedRows: number, success: string, failure: (rows: string) => string): Found {
  const passed = failedRows === 0;
  return { passed, failedRows, message: passed ? success : failure(rowsText(failedRows)) };
}
