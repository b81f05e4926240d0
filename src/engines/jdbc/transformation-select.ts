import type { ResultColumn } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type { JoinTransformationSpec, RenameTransformationSpec, TaskSpec } from '../task-spec.js';

/** A result that a transformation reads, as it stands in a statement. */
export interface SelectInput {
  relation: string;
  /** What an author's expression calls it. */
  alias: string;
  columns(): Promise<readonly ResultColumn[]>;
}

/** Where the databases differ. */
export interface SelectDialect {
  identifier(name: string): string;
  /** Equal for two names of one column. */
  folded(name: string): string;
  /** One row for each combination of the keys, the first by the order. @param keys quoted */
  firstOfEach(input: SelectInput, keys: readonly string[], orderBy: readonly string[]): Promise<string>;
  hasFullJoin: boolean;
}

/**
 * The SELECT of a transformation that is not an author's own; src/domain/pipelines/definition/push-down-obstacle.ts lets
 * nothing else through.
 * @throws EngineError SQL
 */
export async function transformationSelect(
  spec: TaskSpec,
  [input, right]: readonly SelectInput[],
  dialect: SelectDialect,
): Promise<string> {
  if (!input) throw new EngineError('SQL', 'The transformation has no input.');
  const from = `${input.relation} AS ${input.alias}`;
  switch (spec.type) {
    case 'filter':
      return `SELECT * FROM ${from} WHERE (${spec.where}\n)`;
    case 'rename':
      return `SELECT ${await renamed(spec, input, dialect)} FROM ${from}`;
    case 'deduplicate':
      return dialect.firstOfEach(input, spec.keys.map(dialect.identifier), spec.orderBy ?? []);
    case 'aggregate': {
      const names = (spec.groupBy ?? []).map(dialect.identifier);
      const list = Object.entries(spec.measures).map(
        ([name, sql]) => `(${sql}\n) AS ${dialect.identifier(name)}`,
      );
      const grouping = names.length > 0 ? ` GROUP BY ${names.join(', ')}` : '';
      return `SELECT ${[...names, ...list].join(', ')} FROM ${from}${grouping}`;
    }
    case 'join':
      if (!right) throw new EngineError('SQL', 'The join needs two inputs.');
      return joinSelect(spec, input, right, dialect);
    default:
      throw new EngineError('SQL', `A ${spec.kind} of type ${spec.type} cannot be pushed down.`);
  }
}

async function renamed(
  { columns, keepOnlyNamed }: RenameTransformationSpec,
  input: SelectInput,
  { identifier, folded }: SelectDialect,
): Promise<string> {
  const names = (await input.columns()).map(({ name }) => name);
  const wanted = new Map(Object.entries(columns).map(([from, to]) => [folded(from), to]));
  const known = new Set(names.map(folded));
  const unknown = Object.keys(columns).filter((name) => !known.has(folded(name)));
  if (unknown.length > 0) throw new EngineError('SQL', `The input has no column ${unknown.join(', ')}.`);
  return names
    .flatMap((name) => {
      const to = wanted.get(folded(name));
      if (to === undefined) return keepOnlyNamed ? [] : [identifier(name)];
      return [`${identifier(name)} AS ${identifier(to)}`];
    })
    .join(', ');
}

async function joinSelect(
  spec: JoinTransformationSpec,
  left: SelectInput,
  right: SelectInput,
  dialect: SelectDialect,
): Promise<string> {
  const { how = 'INNER', on = [] } = spec;
  const pairs = (Array.isArray(on) ? on.map((name) => [name, name]) : Object.entries(on)) as Pair[];
  const matches = (alias: string) =>
    pairs.map(([l, r]) => `${alias}.${dialect.identifier(l)} = r.${dialect.identifier(r)}`).join(' AND ');
  const from = `${left.relation} AS l`;
  const other = `${right.relation} AS r`;
  if (how === 'SEMI' || how === 'ANTI') {
    const exists = how === 'SEMI' ? 'EXISTS' : 'NOT EXISTS';
    return `SELECT l.* FROM ${from} WHERE ${exists} (SELECT 1 FROM ${other} WHERE ${matches('l')})`;
  }
  const select = `SELECT ${await joinedColumns(spec, pairs, left, right, dialect)} FROM ${from}`;
  if (how === 'CROSS') return `${select} CROSS JOIN ${other}`;
  if (how !== 'FULL' || dialect.hasFullJoin) return `${select} ${how} JOIN ${other} ON ${matches('l')}`;
  const unmatched = `NOT EXISTS (SELECT 1 FROM ${left.relation} AS m WHERE ${matches('m')})`;
  return `${select} LEFT JOIN ${other} ON ${matches('l')} UNION ALL ${select} RIGHT JOIN ${other} ON false WHERE ${unmatched}`;
}

type Pair = readonly [left: string, right: string];

/** Columns joined on by one name are there once, from the side that has a value. */
async function joinedColumns(
  { rightPrefix = 'right_' }: JoinTransformationSpec,
  pairs: readonly Pair[],
  left: SelectInput,
  right: SelectInput,
  { identifier, folded }: SelectDialect,
): Promise<string> {
  const names = (await left.columns()).map(({ name }) => name);
  const taken = new Set(names.map(folded));
  const shared = new Set(pairs.filter(([l, r]) => folded(l) === folded(r)).map(([l]) => folded(l)));
  const ofLeft = names.map((name) => {
    const column = identifier(name);
    return shared.has(folded(name)) ? `coalesce(l.${column}, r.${column}) AS ${column}` : `l.${column}`;
  });
  const ofRight = (await right.columns())
    .filter(({ name }) => !shared.has(folded(name)))
    .map(({ name }) => {
      const as = taken.has(folded(name)) ? `${rightPrefix}${name}` : name;
      return `r.${identifier(name)} AS ${identifier(as)}`;
    });
  return [...ofLeft, ...ofRight].join(', ');
}
