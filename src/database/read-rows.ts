import {
  ArrayType,
  type EntityMetadata,
  type EntityProperty,
  type FilterOptions,
  JsonType,
  type Type,
} from '@mikro-orm/core';
import { type EntityManager, type Platform, type QueryBuilder, raw } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import { ORGANIZATION_FILTER, WORKSPACE_FILTER } from '../entities/tenancy.js';

/** Any select over one entity, whatever it selects and however its aliases are called. */
export type RowQuery<Entity extends object> = Pick<
  QueryBuilder<Entity, string, string, object, string, string>,
  'applyFilters' | 'execute' | 'mainAlias' | 'state'
> & { select(fields: unknown): unknown };

type Row = Record<string, unknown>;
type RowMapper = (row: Row) => Row;

/**
 * The fast way to read: tenancy filters apply as they do in `em.find`, but no entity is made and the identity map
 * is not touched, so what comes back is for showing and never for changing. `select('*')` reads every column except
 * lazy and hidden ones. A column that is no property of the entity keeps its name.
 *
 * An entity costs more than its making: MikroORM defines accessors on each one, and V8 keeps such an object, and with it
 * the whole request, until the next full collection (docs/decisions/reading-lists.md).
 *
 * @throws when a filter of the entity has no parameter in this EntityManager: a forgotten caller sees nothing
 */
export async function readRows<Entity extends object>(
  em: EntityManager,
  query: RowQuery<Entity>,
  filters?: FilterOptions,
): Promise<Entity[]> {
  const plan = await prepare(em, query, filters);
  return mapped(plan, (await query.execute('all', false)) as Row[]);
}

/** Characters of SQL and key, some 2,000 of each list. */
const REMEMBERED_CHARACTERS = 8_000_000;
const remembered = new LRUCache<string, RememberedStatement>({
  maxSize: REMEMBERED_CHARACTERS,
  sizeCalculation: ({ sql }, key) => sql.length + key.length,
});

/** What a query says, and how its rows become what `readRows` gives. */
export interface RememberedStatement {
  readonly sql: string;
  toRows(rows: Row[]): Row[];
}

/**
 * The same for a list that is asked for again and again: what `build` made is remembered as text under `key`, which
 * spares the 80 µs that building takes of the 500 µs of a page. The key must hold everything the query depends on
 * besides the tenancy parameters, which are always part of it.
 */
export async function readRowsAgain<Entity extends object>(
  em: EntityManager,
  key: readonly unknown[],
  build: () => Promise<FormattedQuery<Entity>>,
): Promise<Entity[]> {
  const statement = await rememberStatement(em, key, build);
  return statement.toRows(await em.execute<Row[]>(statement.sql)) as Entity[];
}

type FormattedQuery<Entity extends object> = RowQuery<Entity> & { getFormattedQuery(): string };

/** What `build` made under this key and for this EntityManager's tenant, made once. */
export async function rememberStatement<Entity extends object>(
  em: EntityManager,
  key: readonly unknown[],
  build: () => FormattedQuery<Entity> | Promise<FormattedQuery<Entity>>,
  filters?: FilterOptions,
): Promise<RememberedStatement> {
  const tenancy = [ORGANIZATION_FILTER, WORKSPACE_FILTER].map((name) => em.getFilterParams(name) ?? null);
  const place = JSON.stringify([tenancy, key]);
  const known = remembered.get(place);
  if (known) return known;
  const query = await build();
  const plan = await prepare(em, query, filters);
  const made = { sql: query.getFormattedQuery(), toRows: (rows: Row[]) => mapped<Row>(plan, rows) };
  remembered.set(place, made);
  return made;
}

async function prepare<Entity extends object>(
  em: EntityManager,
  query: RowQuery<Entity>,
  filters?: FilterOptions,
): Promise<RowPlan> {
  const { entityName, aliasName } = query.mainAlias;
  const plan = rowPlan(em.getMetadata().get(entityName), em.getPlatform());
  const fields: readonly unknown[] = query.state.fields ?? ['*'];
  const isStar = (field: unknown) => field === '*' || field === `${aliasName}.*`;
  if (fields.some(isStar)) {
    query.select(fields.map((field) => (isStar(field) ? raw(plan.columns(aliasName)) : field)));
  }
  await query.applyFilters(filters);
  return plan;
}

function mapped<Entity>(plan: RowPlan, rows: Row[]): Entity[] {
  const [sample] = rows;
  if (sample === undefined) return [];
  return rows.map(plan.mapper(Object.keys(sample))) as Entity[];
}

interface RowPlan {
  /** What `*` stands for. */
  columns(alias: string): string;
  mapper(columns: string[]): RowMapper;
}

const plans = new WeakMap<object, RowPlan>();

function rowPlan(meta: EntityMetadata, platform: Platform): RowPlan {
  const known = plans.get(meta);
  if (known) return known;
  const properties = new Map(columnProperties(meta));
  const shown = [...properties].filter(([, property]) => property.lazy !== true && property.hidden !== true);
  const quoted = shown.map(([column]) => platform.quoteIdentifier(column));
  const mappers = new Map<string, RowMapper>();
  const plan: RowPlan = {
    columns: (alias) => quoted.map((column) => `${platform.quoteIdentifier(alias)}.${column}`).join(', '),
    mapper: (columns) => {
      const shape = columns.join();
      const mapper = mappers.get(shape) ?? compileMapper(columns, properties, platform);
      mappers.set(shape, mapper);
      return mapper;
    },
  };
  plans.set(meta, plan);
  return plan;
}

function columnProperties(meta: EntityMetadata): [string, EntityProperty][] {
  return meta.props.flatMap(
    (property) => property.fieldNames?.map((column): [string, EntityProperty] => [column, property]) ?? [],
  );
}

/**
 * One function per set of columns, as source text: 25 tickets take 7 µs with it and 37 µs in a loop over the columns
 * (bench/read-rows.ts), where reading them bare takes 260 µs.
 */
function compileMapper(
  columns: string[],
  properties: ReadonlyMap<string, EntityProperty>,
  platform: Platform,
): RowMapper {
  const types: Type<unknown>[] = [];
  const entries = columns.map((column) => {
    const property = properties.get(column);
    const value = `row[${JSON.stringify(column)}]`;
    return `${JSON.stringify(property?.name ?? column)}: ${property ? conversion(property, value, types) : value}`;
  });
  return new Function('types', 'platform', `return (row) => ({ ${entries.join(', ')} });`)(types, platform);
}

/** pg has parsed JSON and arrays already; MikroORM's pool leaves timestamps as text. */
function conversion(property: EntityProperty, value: string, types: Type<unknown>[]): string {
  if (property.runtimeType === 'Date') return `${value} === null ? null : new Date(${value})`;
  const type = property.customType;
  if (type === undefined || type instanceof JsonType || type instanceof ArrayType) return value;
  types.push(type);
  return `${value} === null ? null : types[${types.length - 1}].convertToJSValue(${value}, platform)`;
}
