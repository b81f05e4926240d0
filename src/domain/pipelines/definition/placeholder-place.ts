import type { Path } from './yaml-text.js';

/**
 * What a placeholder becomes where it stands: a literal of SQL or JavaScript, plain text, or nothing, because the field
 * decides which tasks there are and so has to be known before a run.
 */
export type Place = SqlPlace | 'code' | 'text' | 'default' | 'fixed';

/** `mysql` is what MySQL has always read; `mysqlOrDuckdb` what it reads when the graph is pushed down to it. */
export type SqlPlace = 'sql' | 'mysql' | 'mysqlOrDuckdb';

export function isSqlPlace(place: Place): place is SqlPlace {
  return place === 'sql' || place === 'mysql' || place === 'mysqlOrDuckdb';
}

const SECTIONS: ReadonlySet<unknown> = new Set(['source', 'transformations', 'target', 'tasks', 'quality']);
const FIXED_AT_TOP: ReadonlySet<unknown> = new Set(['apiVersion', 'name', 'engine', 'parameters']);
const FIXED_IN_TASK: ReadonlySet<unknown> = new Set([
  'id',
  'kind',
  'type',
  'format',
  'mode',
  'inputs',
  'input',
  'dependsOn',
  'on',
  'references',
]);
const SQL_FIELDS: ReadonlySet<unknown> = new Set(['sql', 'where', 'deleteWhen', 'query']);
const SQL_COLLECTIONS: ReadonlySet<unknown> = new Set(['measures', 'orderBy']);

/** @param root the whole definition */
export function placeOf(path: Path, root: unknown): Place {
  if (path[0] === 'parameters' && path[2] === 'default' && path.length === 3) return 'default';
  if (FIXED_AT_TOP.has(path[0])) return 'fixed';
  if (!SECTIONS.has(path[0])) return 'text';
  const depth = typeof path[1] === 'number' ? 2 : 1;
  const [field, ...inner] = path.slice(depth);
  if (FIXED_IN_TASK.has(field)) return 'fixed';
  if (field === 'code' && inner.length === 0) return 'code';
  const isSql = inner.length === 0 ? SQL_FIELDS.has(field) : inner.length === 1 && SQL_COLLECTIONS.has(field);
  if (!isSql) return 'text';
  if (field === 'query' && typeAt(path.slice(0, depth), root) === 'mysql') return 'mysql';
  return isAllOnMysql(root) ? 'mysqlOrDuckdb' : 'sql';
}

/** Whether every dataset is of MySQL, so that the whole graph may be carried out there; else expressions are DuckDB's. */
function isAllOnMysql(root: unknown): boolean {
  const { source, target, tasks } = root as Record<string, unknown>;
  const written = [source, target, tasks].flat() as ({ kind?: unknown; type?: unknown } | null | undefined)[];
  return written.every((task) => !task || task.kind === 'transformation' || task.type === 'mysql');
}

function typeAt(path: Path, root: unknown): unknown {
  const task = path.reduce<unknown>((value, step) => (value as Record<string | number, unknown>)[step], root);
  return (task as Record<string, unknown> | undefined)?.['type'];
}
