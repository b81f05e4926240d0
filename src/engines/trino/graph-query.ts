import { identifier } from '../batch/sql-text.js';
import { tableName } from '../batch/table-name.js';
import type { EngineTask, ResultColumn } from '../engine.js';
import { EngineError } from '../engine-error.js';
import type {
  CastTransformationSpec,
  JoinTransformationSpec,
  MysqlSourceSpec,
  PostgresSourceSpec,
  TransformationSpec,
} from '../task-spec.js';
import { translateBeside } from './translate-process.js';

/** Where the tables of a connection lie in Trino. */
export interface Place {
  catalog: string;
  /** Of a name without one. */
  schema: string;
}

/** The tasks before a target as common table expressions of one statement, each under its id. */
export class GraphQuery {
  readonly #expressions: string[] = [];
  readonly #columns = new Map<string, readonly ResultColumn[]>();

  /**
   * @param placeOf of a connection by its name
   * @param describe gives the columns of a query without reading a row
   */
  constructor(
    private readonly placeOf: (connection: string) => Place,
    private readonly describe: (sql: string) => Promise<readonly ResultColumn[]>,
    private readonly signal: AbortSignal,
  ) {}

  /** @throws EngineError SQL */
  async add(task: EngineTask): Promise<readonly ResultColumn[]> {
    const select = await this.#selectOf(task);
    this.#expressions.push(`${nameOf(task.id)} AS (\n${select}\n)`);
    const columns = await this.describe(`${this.with()} SELECT * FROM ${nameOf(task.id)} LIMIT 0`);
    this.#columns.set(task.id, columns);
    return columns;
  }

  with(): string {
    return `WITH ${this.#expressions.join(', ')}`;
  }

  /** A query of DuckDB's dialect that reads the task's inputs. */
  translated(task: EngineTask, sql: string): Promise<string> {
    return translateBeside({ sql, from: 'duckdb', readable: { tasks: task.inputs } }, this.signal);
  }

  #selectOf(task: EngineTask): Promise<string> {
    const { spec } = task;
    if (spec.kind === 'transformation') return this.#transformationSelect(task, spec);
    if (spec.kind === 'source' && (spec.type === 'postgres' || spec.type === 'mysql')) {
      return this.#sourceSelect(spec);
    }
    throw new EngineError('INTERNAL', `A ${spec.kind} of type ${spec.type} is not for Trino.`);
  }

  async #sourceSelect({
    type,
    connection,
    table,
    query,
  }: PostgresSourceSpec | MysqlSourceSpec): Promise<string> {
    const place = this.placeOf(connection);
    if (table !== undefined) return `SELECT * FROM ${qualifiedName(place, table)}`;
    return translateBeside({ sql: query ?? '', from: type, readable: place }, this.signal);
  }

  async #transformationSelect(task: EngineTask, spec: TransformationSpec): Promise<string> {
    switch (spec.type) {
      case 'sql':
        return this.translated(task, spec.sql);
      case 'filter':
        return this.translated(task, `SELECT * FROM ${only(task)} WHERE (${spec.where}\n)`);
      case 'rename':
        return selectList(
          task,
          this.#columnsOf(task, 0).flatMap(({ name }) => {
            const to = namedValue(spec.columns, name);
            return to === undefined && spec.keepOnlyNamed ? [] : [[identifier(name), to ?? name]];
          }),
        );
      case 'cast':
        return this.#castSelect(task, spec);
      case 'deduplicate':
        return this.#deduplicateSelect(task, spec.keys, spec.orderBy ?? []);
      case 'aggregate': {
        const keys = (spec.groupBy ?? []).map(identifier);
        const measures = Object.entries(spec.measures).map(
          ([name, sql]) => `(${sql}\n) AS ${identifier(name)}`,
        );
        const grouping = keys.length > 0 ? ` GROUP BY ${keys.join(', ')}` : '';
        return this.translated(
          task,
          `SELECT ${[...keys, ...measures].join(', ')} FROM ${only(task)}${grouping}`,
        );
      }
      case 'join':
        return this.#joinSelect(task, spec);
      default:
        throw new EngineError('INTERNAL', `A transformation of type ${spec.type} is not for Trino.`);
    }
  }

  #castSelect(task: EngineTask, { columns, onError }: CastTransformationSpec): Promise<string> {
    const cast = onError === 'NULL' ? 'TRY_CAST' : 'CAST';
    const list = this.#columnsOf(task, 0).map(({ name }) => {
      const to = namedValue(columns, name);
      const column = identifier(name);
      return to === undefined ? column : `${cast}(${column} AS ${to}) AS ${column}`;
    });
    // Through the translation for the names of the types.
    return this.translated(task, `SELECT ${list.join(', ')} FROM ${only(task)}`);
  }

  #deduplicateSelect(task: EngineTask, keys: readonly string[], orderBy: readonly string[]): Promise<string> {
    const columns = this.#columnsOf(task, 0).map(({ name }) => identifier(name));
    const numbered = `row_number() OVER (PARTITION BY ${keys.map(identifier).join(', ')} ORDER BY ${orderBy.join('\n, ')}\n)`;
    return this.translated(
      task,
      `SELECT ${columns.join(', ')} FROM (SELECT *, ${numbered} AS "opsgraph row" FROM ${only(task)}) AS numbered
       WHERE "opsgraph row" = 1`,
    );
  }

  async #joinSelect(
    task: EngineTask,
    { how = 'INNER', on = [], rightPrefix = 'right_' }: JoinTransformationSpec,
  ) {
    const [l = '', r = ''] = task.inputs.map(nameOf);
    const pairs = (Array.isArray(on) ? on.map((name) => [name, name]) : Object.entries(on)) as [
      string,
      string,
    ][];
    const condition = pairs.map(([a, b]) => `l.${identifier(a)} = r.${identifier(b)}`).join(' AND ');
    if (how === 'SEMI' || how === 'ANTI') {
      const exists = how === 'SEMI' ? 'EXISTS' : 'NOT EXISTS';
      return `SELECT l.* FROM ${l} AS l WHERE ${exists} (SELECT 1 FROM ${r} AS r WHERE ${condition})`;
    }
    const left = this.#columnsOf(task, 0).map(({ name }) => name);
    const shared = new Set(pairs.filter(([a, b]) => folded(a) === folded(b)).map(([a]) => folded(a)));
    const ofLeft = left.map((name) => {
      const column = `l.${identifier(name)}`;
      const value = shared.has(folded(name)) ? `coalesce(${column}, r.${identifier(name)})` : column;
      return `${value} AS ${identifier(name)}`;
    });
    const ofRight = this.#columnsOf(task, 1)
      .filter(({ name }) => !shared.has(folded(name)))
      .map(({ name }) => {
        const isTaken = left.some((each) => folded(each) === folded(name));
        return `r.${identifier(name)} AS ${identifier(isTaken ? `${rightPrefix}${name}` : name)}`;
      });
    const list = [...ofLeft, ...ofRight].join(', ');
    return `SELECT ${list} FROM ${l} AS l ${how} JOIN ${r} AS r${how === 'CROSS' ? '' : ` ON ${condition}`}`;
  }

  #columnsOf({ id, inputs }: EngineTask, index: number): readonly ResultColumn[] {
    const columns = this.#columns.get(inputs[index] ?? '');
    if (!columns) throw new EngineError('SQL', `"${id}" lacks an input.`);
    return columns;
  }
}

/** Trino does not tell names by case, quoted or not. */
export function nameOf(taskId: string): string {
  return identifier(taskId.toLowerCase());
}

export function qualifiedName({ catalog, schema }: Place, text: string): string {
  const name = tableName(text);
  return [catalog, name.schema ?? schema, name.table].map(identifier).join('.');
}

function selectList(task: EngineTask, columns: readonly (readonly string[])[]): Promise<string> {
  const list = columns.map(([value = '', name = '']) => `${value} AS ${identifier(name)}`);
  return Promise.resolve(`SELECT ${list.join(', ')} FROM ${only(task)}`);
}

function only({ id, inputs }: EngineTask): string {
  const [input] = inputs;
  if (input === undefined) throw new EngineError('SQL', `"${id}" has no input.`);
  return nameOf(input);
}

function folded(name: string): string {
  return name.toLowerCase();
}

function namedValue(record: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(record).find(([key]) => folded(key) === folded(name))?.[1];
}
