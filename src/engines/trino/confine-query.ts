import { EngineError } from '../engine-error.js';

export interface TableName {
  catalog: string | undefined;
  schema: string | undefined;
  table: string;
}

/** The name to read instead, whole; undefined refuses it. */
export type TableRule = (name: TableName) => TableName | undefined;

type Node = Record<string, unknown>;

/** Kinds of polyglot's tree that only read. */
const QUERIES: ReadonlySet<string> = new Set([
  'select',
  'union',
  'intersect',
  'except',
  'values',
  'subquery',
]);
/** What may stand behind FROM and JOIN: not a function, for a connector's own run any statement in its database. */
const RELATIONS: ReadonlySet<string> = new Set(['table', 'subquery', 'unnest', 'values', 'joined_table']);

/**
 * The tree with every table put in the place the rule gives it.
 * @throws EngineError SQL naming what may not be read or done
 */
export function confine(query: unknown, rule: TableRule): unknown {
  if (!QUERIES.has(kindOf(query))) throw new EngineError('SQL', 'The SQL must be one query that only reads.');
  visit(query, rule, new Set());
  return query;
}

function visit(value: unknown, rule: TableRule, named: ReadonlySet<string>): void {
  if (Array.isArray(value)) {
    for (const inner of value) visit(inner, rule, named);
    return;
  }
  if (!isNode(value)) return;
  const known = new Set([...named, ...namesOfWith(value)]);
  for (const relation of relationsOf(value)) {
    if (!RELATIONS.has(kindOf(unaliased(relation)))) {
      throw new EngineError('SQL', 'Behind FROM and JOIN only tables and queries may stand.');
    }
  }
  if (isNode(value['table']) && isNode(value['table']['name'])) place(value['table'], rule, known);
  for (const inner of Object.values(value)) visit(inner, rule, known);
}

function place(table: Node, rule: TableRule, named: ReadonlySet<string>): void {
  const written = {
    catalog: nameOf(table['catalog']),
    schema: nameOf(table['schema']),
    table: nameOf(table['name']) ?? '',
  };
  const isPlain = written.catalog === undefined && written.schema === undefined;
  if (isPlain && named.has(written.table.toLowerCase())) return;
  const found = rule(written);
  if (!found) {
    const text = [written.catalog, written.schema, written.table]
      .filter((part) => part !== undefined)
      .join('.');
    throw new EngineError('SQL', `The SQL may not read "${text}".`);
  }
  table['catalog'] = quoted(found.catalog);
  table['schema'] = quoted(found.schema);
  table['name'] = quoted(found.table);
}

function relationsOf(node: Node): unknown[] {
  const from = isNode(node['from']) ? node['from']['expressions'] : [];
  const joins = Array.isArray(node['joins']) ? node['joins'] : [];
  const laterals = Array.isArray(node['lateral_views']) ? node['lateral_views'] : [];
  const left = isNode(node['joined_table']) ? [node['joined_table']['left']] : [];
  return [
    ...(Array.isArray(from) ? from : []),
    ...joins.map((join: Node) => join['this']),
    ...laterals,
    ...left,
  ];
}

function unaliased(relation: unknown): unknown {
  return isNode(relation) && isNode(relation['alias']) && 'this' in relation['alias']
    ? relation['alias']['this']
    : relation;
}

function namesOfWith({ with: clause }: Node): string[] {
  const ctes = isNode(clause) && Array.isArray(clause['ctes']) ? clause['ctes'] : [];
  return ctes.flatMap((cte: Node) => nameOf(cte['alias'])?.toLowerCase() ?? []);
}

function nameOf(value: unknown): string | undefined {
  return isNode(value) && typeof value['name'] === 'string' ? value['name'] : undefined;
}

function quoted(name: string | undefined): Node | null {
  return name === undefined ? null : { name, quoted: true, trailing_comments: [], span: null };
}

function kindOf(value: unknown): string {
  return isNode(value) ? (Object.keys(value)[0] ?? '') : '';
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
