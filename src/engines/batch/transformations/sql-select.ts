import type { SqlTransformationSpec } from '../../task-spec.js';
import { assertReadsOnly } from '../select-only.js';
import type { SelectBuilder } from './select-builder.js';

export const sqlSelect: SelectBuilder<SqlTransformationSpec> = async ({ task }, connection, { sql }) => {
  await assertReadsOnly(connection, sql, task.inputs);
  // Binding the text on its own gives errors with the positions of the author's SQL.
  (await connection.prepare(sql)).destroySync();
  return sql;
};
