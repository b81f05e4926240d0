import type { QueryAnalysis, Schema } from '@polyglot-sql/sdk';
import type { ResultColumn } from '../../engines/engine.js';
import type { Origin, Subtype } from './origin.js';

type Polyglot = typeof import('@polyglot-sql/sdk');
type Origins = Map<string, Origin[]>;

/** Loaded with the first SQL there is to read: 23 MB of WebAssembly. */
let parser: Promise<Polyglot> | undefined;

/**
 * A query that is no plain SELECT is read once for each column of each SELECT in it: 1,000 fields of 50 SELECTs take 10 s
 * and 0.2 GB, 500 of 100 SELECTs 25 s and 0.8 GB.
 */
const MAX_FIELDS = 1_000;
const MAX_SELECTS = 50;
/** To read the tree of as many takes 0.7 s. */
const MAX_CHARACTERS = 100_000;

/**
 * Which columns of its inputs each column of a SELECT is made from, read from the syntax tree in DuckDB's dialect.
 * Empty when the text is beyond the parser: lineage is never a reason for a run to fail.
 * @param width how many columns the result has
 * @throws RangeError when it is too large to be tried, Error when the parser broke over it
 */
export async function sqlOrigins(
  sql: string,
  inputs: readonly string[],
  columns: ReadonlyMap<string, readonly ResultColumn[]>,
  width: number,
): Promise<Origins> {
  if (sql.length > MAX_CHARACTERS) throw new RangeError(`SQL of ${sql.length} characters`);
  parser ??= import('@polyglot-sql/sdk');
  const polyglot = await parser;
  const { ast, success } = sound(polyglot.parse(sql, 'duckdb' as never));
  if (!success) return new Map();
  const tables = inputs.map((name) => ({ name, columns: [...(columns.get(name) ?? [])] }));
  const schema: Schema = { tables, strict: false };
  const inputOf = nameFinder(inputs);
  const selects = selectsIn(ast);
  const [only] = selects;
  if (selects.length === 1 && only && isPlain(only)) {
    const { analysis } = sound(polyglot.analyzeQuery(sql, { dialect: 'duckdb', schema }));
    return plainOrigins(analysis?.projections ?? [], inputOf);
  }
  if (selects.length > MAX_SELECTS || width * selects.length > MAX_FIELDS)
    throw new RangeError(`SQL of ${selects.length} SELECTs, ${width} columns wide`);
  return tracedOrigins(polyglot, sql, schema, inputOf);
}

type InputOf = (table: string) => string | undefined;

function nameFinder(inputs: readonly string[]): InputOf {
  const byName = new Map(inputs.map((name) => [name.toLowerCase(), name]));
  return (table) => byName.get(table.toLowerCase());
}

const SUBTYPES: Partial<Record<string, Subtype>> = { direct: 'IDENTITY', aggregation: 'AGGREGATION' };

/** Of all columns at once. */
function plainOrigins(projections: QueryAnalysis['projections'], inputOf: InputOf): Origins {
  const origins: Origins = new Map();
  for (const { name, transformKind, upstream } of projections) {
    // DuckDB gives the name to the first of several.
    if (name === undefined || origins.has(name)) continue;
    const subtype = SUBTYPES[transformKind] ?? 'TRANSFORMATION';
    origins.set(
      name,
      upstream.flatMap(({ table, column }) => {
        const input = inputOf(table ?? '');
        return input === undefined ? [] : [{ input, field: column, subtype }];
      }),
    );
  }
  return origins;
}

/** Column by column, through WITH, subqueries and unions. */
function tracedOrigins(polyglot: Polyglot, sql: string, schema: Schema, inputOf: InputOf): Origins {
  const { facet } = sound(
    polyglot.openLineageColumnLineage(sql, {
      dialect: 'duckdb',
      producer: 'opsgraph',
      datasetNamespace: 'task',
      outputDataset: { namespace: 'task', name: 'result' },
      schema,
    }),
  );
  return new Map(
    Object.entries(facet?.fields ?? {}).map(([column, { inputFields }]) => [
      column,
      inputFields.flatMap(({ name, field, transformations }) => {
        const input = inputOf(name);
        const subtype = (transformations?.[0]?.subtype ?? 'TRANSFORMATION') as Subtype;
        return input === undefined ? [] : [{ input, field, subtype }];
      }),
    ]),
  );
}

/** An instance that trapped, by its stack for one, is left in the middle of things and must not be asked again. */
function sound<Result extends { error?: string | null }>(result: Result): Result {
  if (result.error?.startsWith('WASM ')) throw new Error(result.error);
  return result;
}

type Node = Record<string, unknown>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function selectsIn(value: unknown): Node[] {
  if (!isNode(value)) return [];
  const own = isNode(value['select']) ? [value['select']] : [];
  return [...own, ...Object.values(value).flatMap(selectsIn)];
}

/** Reads nothing but tables by their names. */
function isPlain({ from, joins, with: named, lateral_views: laterals }: Node): boolean {
  const relations = [
    ...listOf(isNode(from) && from['expressions']),
    ...listOf(joins).map((join) => isNode(join) && join['this']),
  ];
  const isTable = (relation: unknown) => isNode(relation) && 'table' in relation;
  return !named && listOf(laterals).length === 0 && relations.every(isTable);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
