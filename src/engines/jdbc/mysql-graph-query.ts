import type { MysqlClient } from '../batch/mysql-client.js';
import { MYSQL_QUOTES, mysqlIdentifier, mysqlTable } from '../batch/mysql-text.js';
import { withoutSemicolon } from '../batch/sql-text.js';
import type { EngineTask, ResultColumn } from '../engine.js';
import { EngineError } from '../engine-error.js';
import { type SelectDialect, type SelectInput, transformationSelect } from './transformation-select.js';

interface Expression {
  /** Quoted; the space in it keeps it apart from tables. */
  name: string;
  /** Its definition with what comes before it, in order. */
  texts: ReadonlySet<string>;
  columns: readonly ResultColumn[];
}

const SHAPE = mysqlIdentifier('opsgraph_shape');
const ROW = mysqlIdentifier('opsgraph row');

/**
 * The tasks before the targets as common table expressions: a view would commit, and a temporary table cannot stand
 * twice in one statement of MySQL. Their names are ours, so a task named like a table does not stand in for it where a
 * source reads it; a transformation finds its inputs under their ids.
 */
export class MysqlGraphQuery {
  readonly #expressions = new Map<string, Expression>();

  constructor(private readonly client: MysqlClient) {}

  /** Gives the columns, with the server's names of the types. @throws what the server says of the SQL, and EngineError SQL */
  async add(task: EngineTask): Promise<readonly ResultColumn[]> {
    const inputs = task.inputs.map((id) => this.#of(id));
    const name = mysqlIdentifier(`opsgraph ${this.#expressions.size}`);
    const definition = `${name} AS (\n${await this.#selectOf(task)}\n)`;
    const texts = new Set([...inputs.flatMap((input) => [...input.texts]), definition]);
    const columns = await this.#describe(selectFrom(texts, '*', name));
    this.#expressions.set(task.id, { name, texts, columns });
    return columns;
  }

  columnsOf(taskId: string): readonly ResultColumn[] {
    return this.#of(taskId).columns;
  }

  /** A query of a task's result, known to the list by the task's id. */
  select(list: string, taskId: string): string {
    const { name, texts } = this.#of(taskId);
    return selectFrom(texts, list, `${name} AS ${mysqlIdentifier(taskId)}`);
  }

  #of(taskId: string): Expression {
    const found = this.#expressions.get(taskId);
    if (!found) throw new EngineError('INTERNAL', `Nothing is known of the result of "${taskId}".`);
    return found;
  }

  async #selectOf({ id, inputs, spec }: EngineTask): Promise<string> {
    if (spec.kind === 'source' && spec.type === 'mysql') {
      const { query, table = '' } = spec;
      return query === undefined
        ? `SELECT * FROM ${mysqlTable(table)}`
        : withoutSemicolon(query, MYSQL_QUOTES);
    }
    const read = inputs.map((input): SelectInput => {
      const { name, columns } = this.#of(input);
      return { relation: name, alias: mysqlIdentifier(input), columns: async () => columns };
    });
    if (spec.kind !== 'transformation' || spec.type !== 'sql')
      return transformationSelect(spec, read, DIALECT);
    const known = read.map(({ relation, alias }) => `${alias} AS (SELECT * FROM ${relation})`);
    // In parentheses the text may begin with a WITH of its own, and can be nothing but a query.
    return `WITH ${known.join(', ')} SELECT * FROM (\n${withoutSemicolon(spec.sql, MYSQL_QUOTES)}\n) AS ${mysqlIdentifier(id)}`;
  }

  /** By an empty table, which alone has the types as they stand in a definition. */
  async #describe(select: string): Promise<ResultColumn[]> {
    await this.client.change(`CREATE TEMPORARY TABLE ${SHAPE} AS ${select} LIMIT 0`);
    const columns = await this.client.rows<{ Field: string; Type: string }>(`SHOW COLUMNS FROM ${SHAPE}`);
    await this.client.change(`DROP TEMPORARY TABLE ${SHAPE}`);
    return columns.map(({ Field: name, Type: type }) => ({ name, type }));
  }
}

function selectFrom(texts: ReadonlySet<string>, list: string, from: string): string {
  return `WITH ${[...texts].join(', ')} SELECT ${list} FROM ${from}`;
}

const DIALECT: SelectDialect = {
  identifier: mysqlIdentifier,
  folded: (name) => name.toLowerCase(),
  hasFullJoin: false,
  firstOfEach: async ({ relation, alias, columns }, keys, orderBy) => {
    const names = (await columns()).map(({ name }) => mysqlIdentifier(name));
    const order = orderBy.length > 0 ? ` ORDER BY ${orderBy.join('\n, ')}\n` : '';
    const number = `row_number() OVER (PARTITION BY ${keys.join(', ')}${order})`;
    return `SELECT ${names.join(', ')} FROM (SELECT *, ${number} AS ${ROW} FROM ${relation} AS ${alias}) AS numbered WHERE ${ROW} = 1`;
  },
};
