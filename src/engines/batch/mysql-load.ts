import { EngineError } from '../engine-error.js';
import type { MysqlTargetSpec, TableTargetMode } from '../task-spec.js';
import { DELETES } from './delete-when.js';
import { assertKeysKnown, columnsToAdd } from './load-input.js';
import type { MysqlClient } from './mysql-client.js';
import { mysqlIdentifier, mysqlLiteral, mysqlTable } from './mysql-text.js';

export interface MysqlLoadColumn {
  name: string;
  /** Types in a table that is made, of a column and of one that is part of the key. */
  type: string;
  keyType: string;
}

export interface MysqlLoadPlan {
  /** As a person writes it, and quoted. */
  plain: string;
  target: string;
  exists: boolean;
  mode: TableTargetMode;
  columns: readonly MysqlLoadColumn[];
  added: readonly MysqlLoadColumn[];
  keys: readonly string[];
  deletes: boolean;
  /** Quoted. The table is temporary: it goes with the connection, and neither making nor dropping it commits anything. */
  staging: string;
}

export const STAGING = '`opsgraph_staging`';

/** Looks at the target as it is. Throws EngineError TARGET when the input cannot go into it. */
export async function planMysqlLoad(
  client: MysqlClient,
  spec: MysqlTargetSpec,
  columns: readonly MysqlLoadColumn[],
): Promise<MysqlLoadPlan> {
  assertKeysKnown(spec, columns);
  const [first = '', second] = spec.table.split('.');
  const schema = second === undefined ? 'database()' : mysqlLiteral(first);
  const where = `table_schema = ${schema} AND table_name = ${mysqlLiteral(second ?? first)}`;
  const existing = await client.rows<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns WHERE ${where}`,
  );
  const exists = existing.length > 0;
  if (exists) await assertTransactional(client, spec.table, where);
  const names = new Set(existing.map(({ name }) => name.toLowerCase()));
  return {
    plain: spec.table,
    target: mysqlTable(spec.table),
    exists,
    mode: spec.mode,
    columns,
    added: exists ? columnsToAdd(spec, columns, (name) => names.has(name.toLowerCase())) : [],
    keys: spec.keys ?? [],
    deletes: spec.deleteWhen !== undefined,
    staging: STAGING,
  };
}

async function assertTransactional(client: MysqlClient, table: string, where: string): Promise<void> {
  const [found] = await client.rows<{ engine: string | null; transactions: string | null }>(
    `SELECT t.engine AS engine, e.transactions AS transactions FROM information_schema.tables t
     LEFT JOIN information_schema.engines e ON e.engine = t.engine WHERE ${where}`,
  );
  if (found?.transactions === 'YES') return;
  throw new EngineError(
    'TARGET',
    `The table ${table} cannot be loaded safely: its storage engine (${found?.engine ?? 'a view has none'}) has no transactions.`,
  );
}

/** A table with the target's own column types, so that what does not fit fails before the target is touched. */
export async function createMysqlStaging(client: MysqlClient, plan: MysqlLoadPlan): Promise<void> {
  const own = plan.exists ? plan.added : plan.columns;
  const made = own.map((column) => `${mysqlIdentifier(column.name)} ${typeOf(plan, column)} NULL`);
  if (plan.deletes) made.push(`${mysqlIdentifier(DELETES)} tinyint(1) NULL`);
  const known = plan.columns.filter((column) => !own.includes(column));
  const definitions = made.length > 0 ? `(${made.join(', ')})` : '';
  const select = known.length > 0 ? `AS SELECT ${list(known)} FROM ${plan.target} LIMIT 0` : '';
  await client.change(
    `CREATE TEMPORARY TABLE ${plan.staging} ${definitions} ENGINE=InnoDB ${charset} ${select}`,
  );
}

const charset = 'DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

function typeOf({ keys }: MysqlLoadPlan, { name, type, keyType }: MysqlLoadColumn): string {
  return keys.includes(name) ? keyType : type;
}

/** Behind the upload, so that it is built once. Keys of unbounded length have none, and are compared one by one. */
export async function indexMysqlStaging(
  client: MysqlClient,
  { keys, staging }: MysqlLoadPlan,
): Promise<void> {
  if (keys.length === 0) return;
  const list = keys.map(mysqlIdentifier).join(', ');
  await client.change(`ALTER TABLE ${staging} ADD INDEX (${list})`).catch((error: unknown) => {
    if (!hasNumber(error, [TOO_LONG_KEY, BLOB_KEY])) throw error;
  });
}

/** Says which key stands in the way; what the server would say names none. */
export async function assertMysqlKeysUsable(client: MysqlClient, plan: MysqlLoadPlan): Promise<void> {
  if (plan.keys.length === 0) return;
  const keys = plan.keys.map(mysqlIdentifier);
  const isNull = keys.map((key) => `${key} IS NULL`).join(' OR ');
  const named = plan.keys.join(', ');
  if ((await client.rows(`SELECT 1 FROM ${plan.staging} WHERE ${isNull} LIMIT 1`)).length > 0) {
    throw new EngineError('TARGET', `${plan.mode} into ${plan.plain}: a key (${named}) is null.`);
  }
  const [twice] = await client.rows<{ example: string }>(
    `SELECT concat_ws(', ', ${keys.map((key) => `min(${key})`).join(', ')}) AS example FROM ${plan.staging}
     GROUP BY ${keys.join(', ')} HAVING count(*) > 1 LIMIT 1`,
  );
  if (!twice) return;
  throw new EngineError(
    'TARGET',
    `${plan.mode} into ${plan.plain}: the input has several rows with the key ${named} = ${twice.example}.`,
  );
}

/**
 * Makes or widens the target, which MySQL commits at once whatever is open: so it comes last before the transaction,
 * and a load that fails after it leaves an empty table or column.
 */
export async function prepareMysqlTarget(client: MysqlClient, plan: MysqlLoadPlan): Promise<void> {
  const { columns, added, exists, keys, target } = plan;
  const definitions = (exists ? added : columns).map((column) => {
    const nullable = keys.includes(column.name) ? 'NOT NULL' : 'NULL';
    return `${mysqlIdentifier(column.name)} ${typeOf(plan, column)} ${nullable}`;
  });
  if (!exists) {
    if (keys.length > 0) definitions.push(`PRIMARY KEY (${keys.map(mysqlIdentifier).join(', ')})`);
    await client.change(
      `CREATE TABLE IF NOT EXISTS ${target} (${definitions.join(', ')}) ENGINE=InnoDB ${charset}`,
    );
    return;
  }
  for (const definition of definitions) {
    await client.change(`ALTER TABLE ${target} ADD COLUMN ${definition}`).catch((error: unknown) => {
      // Another load added it meanwhile; IF NOT EXISTS is MariaDB's alone.
      if (!hasNumber(error, [DUPLICATE_COLUMN])) throw error;
    });
  }
}

const DUPLICATE_COLUMN = 1060;
const TOO_LONG_KEY = 1071;
const BLOB_KEY = 1170;

function hasNumber(error: unknown, numbers: readonly unknown[]): boolean {
  return typeof error === 'object' && error !== null && 'errno' in error && numbers.includes(error.errno);
}

/** What changes the target, to be run in one transaction. */
export function mysqlWriteStatements(plan: MysqlLoadPlan): string[] {
  const { target, columns, staging } = plan;
  const insert = `INSERT INTO ${target} (${list(columns)}) SELECT ${list(columns)} FROM ${staging}`;
  switch (plan.mode) {
    case 'APPEND':
      return [insert];
    case 'OVERWRITE':
      // TRUNCATE would commit.
      return [`DELETE FROM ${target}`, insert];
    case 'UPSERT':
      return upsert(plan);
    case 'MERGE':
      return [...deletions(plan), ...upsert(plan)];
  }
}

/** Not ON DUPLICATE KEY UPDATE, which goes by every unique index there is, and by none when the keys have none. */
function upsert(plan: MysqlLoadPlan): string[] {
  const { target, columns, keys, staging } = plan;
  const others = columns.filter(({ name }) => !keys.includes(name)).map(({ name }) => mysqlIdentifier(name));
  const changes = others.map((name) => `t.${name} = s.${name}`).join(', ');
  const names = columns.map(({ name }) => `s.${mysqlIdentifier(name)}`).join(', ');
  const insert = `INSERT INTO ${target} (${list(columns)}) SELECT ${names} FROM ${staging} s
    LEFT JOIN ${target} t ON ${sameKey(plan)} WHERE t.${mysqlIdentifier(keys[0] ?? '')} IS NULL`;
  const update = `UPDATE ${target} t JOIN ${staging} s ON ${sameKey(plan)} SET ${changes}`;
  return others.length > 0 ? [update, insert] : [insert];
}

function deletions(plan: MysqlLoadPlan): string[] {
  const { target, keys, deletes, staging } = plan;
  if (!deletes) {
    return [
      `DELETE t FROM ${target} t LEFT JOIN ${staging} s ON ${sameKey(plan)}
       WHERE s.${mysqlIdentifier(keys[0] ?? '')} IS NULL`,
    ];
  }
  const marked = mysqlIdentifier(DELETES);
  return [
    `DELETE t FROM ${target} t JOIN ${staging} s ON ${sameKey(plan)} WHERE s.${marked}`,
    `DELETE FROM ${staging} WHERE ${marked}`,
  ];
}

function sameKey({ keys }: MysqlLoadPlan): string {
  return keys
    .map(mysqlIdentifier)
    .map((key) => `t.${key} = s.${key}`)
    .join(' AND ');
}

function list(columns: readonly { name: string }[]): string {
  return columns.map(({ name }) => mysqlIdentifier(name)).join(', ');
}
