import type { DuckDBConnection } from '@duckdb/node-api';
import { EngineError } from '../engine-error.js';
import { toEngineError } from './classify-error.js';
import {
  assertAllowed,
  functionName,
  isSyntax,
  placeOf,
  type Syntax,
  serialize,
  walk,
} from './select-only.js';
import { literal } from './sql-text.js';
import { noColumn, type Relation } from './transformations/relation.js';

/** What an author writes into a field: `text` is their SQL, `field` is named in errors. */
export interface AuthorText {
  field: string;
  text: string;
}

interface Form {
  before: string;
  after: string;
  /** Order terms a text of this form has; null for an expression. */
  terms: number | null;
}

/**
 * Each text is parsed bare and as it is going to stand. Bare, it cannot close what was opened before it, so it is one
 * whole expression; in its place, it cannot end in a comment or a semicolon that swallows what follows.
 */
const FORMS: Record<'expression' | 'orderTerm', readonly Form[]> = {
  expression: [
    { before: 'SELECT ', after: '', terms: null },
    { before: 'SELECT (\n', after: '\n)', terms: null },
  ],
  orderTerm: [
    { before: 'SELECT 1 ORDER BY ', after: '', terms: 1 },
    { before: 'SELECT 1 ORDER BY ', after: '\n, 1', terms: 2 },
  ],
};

const WHAT = { expression: 'one SQL expression', orderTerm: 'one column or expression to order by' };
/** SQL writes these functions without parentheses, and the parser takes them for columns. */
const VALUE_KEYWORDS = new Set([
  'current_date',
  'current_time',
  'current_timestamp',
  'localtime',
  'localtimestamp',
]);
/** unnest, its other name, and what DuckDB makes of it. */
const SEVERAL_ROWS = new Set(['unnest', 'unlist', 'generate_subscripts', 'regexp_split_to_table']);
const REFUSED_CLASSES: Readonly<Record<string, string>> = {
  SUBQUERY: 'A subquery is not available here',
  STAR: 'A star is not available here',
  POSITIONAL_REFERENCE: 'A column is named, not numbered',
};

/**
 * @param input undefined while its columns are not known: then any name may be one
 * @throws EngineError SQL unless the text is one expression (or order term) over the columns of `input` alone
 */
export async function assertExpression(
  connection: DuckDBConnection,
  { field, text }: AuthorText,
  input: Relation | undefined,
  form: keyof typeof FORMS = 'expression',
): Promise<void> {
  for (const { before, after, terms } of FORMS[form]) {
    const whole = `${before}${text}${after}`;
    const tree = await serialize(connection, whole);
    const place = (position: unknown) =>
      position == null ? '' : placeOf(Number(position) - before.length, text);
    if (tree.error)
      throw new EngineError(
        'SQL',
        `${field}: ${tree.error_message ?? 'it cannot be read'}${place(tree.position)}`,
      );
    const [statement, second] = tree.statements ?? [];
    const node = isSyntax(statement) ? statement['node'] : undefined;
    if (second !== undefined || !isSyntax(node) || !isBare(node, terms))
      throw new EngineError('SQL', `${field} must be ${WHAT[form]}.`);
    assertNodes([...walk(node)], input, (message, position) => {
      throw new EngineError('SQL', `${field}: ${message}${place(position)}`);
    });
  }
}

type Refuse = (message: string, position: unknown) => never;

function assertNodes(nodes: readonly Syntax[], input: Relation | undefined, refuse: Refuse): void {
  const parameters = parametersOf(nodes);
  const known = new Set(
    [input?.name ?? '', ...(input?.columns ?? []).map(({ name }) => name)].map((name) => name.toLowerCase()),
  );
  for (const node of nodes) {
    const position = node['query_location'];
    const refused = REFUSED_CLASSES[String(node['class'])];
    if (refused !== undefined) refuse(refused, position);
    if (node['class'] === 'FUNCTION' && SEVERAL_ROWS.has(functionName(node)))
      refuse(`The function ${functionName(node)} gives several rows, not one value`, position);
    try {
      assertAllowed(node, new Set(), [], '');
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error), position);
    }
    if (!input || node['class'] !== 'COLUMN_REF') continue;
    const name = firstName(node) ?? '';
    if (!known.has(name) && !parameters.has(name) && !VALUE_KEYWORDS.has(name))
      refuse(noColumn(name, input), position);
  }
}

/** Of lambdas. */
function parametersOf(nodes: readonly Syntax[]): ReadonlySet<string | undefined> {
  const lambdas = nodes.filter((node) => node['class'] === 'LAMBDA');
  return new Set(lambdas.flatMap((node) => [...walk(node['lhs'])].map(firstName)));
}

/**
 * What can be told of a measure, which is one expression, before its input is known. The binder tells the rest in a run;
 * here it would carry out what it can, a quantile's share for one.
 * @throws EngineError SQL when a column stands in it by itself that it is not grouped by
 */
export async function assertOnePerGroup(
  connection: DuckDBConnection,
  { field, text }: AuthorText,
  groupBy: readonly string[],
): Promise<void> {
  const before = 'SELECT ';
  const { statements } = await serialize(connection, `${before}${text}`);
  const nodes = [...walk(statements)];
  const scalars = await scalarFunctions(connection, nodes);
  const known = new Set([
    ...groupBy.map((name) => name.toLowerCase()),
    ...VALUE_KEYWORDS,
    ...parametersOf(nodes),
  ]);
  // Any other function may be an aggregate, or a macro with one in it.
  const isOneByOne = (node: Syntax) =>
    node['class'] === 'FUNCTION' ? scalars.has(functionName(node)) : node['class'] !== 'WINDOW';
  for (const node of walk(statements, isOneByOne)) {
    const names = node['class'] === 'COLUMN_REF' ? (node['column_names'] as string[]) : [];
    if (names.length === 0 || names.some((name) => known.has(name.toLowerCase()))) continue;
    const place = placeOf(Number(node['query_location']) - before.length, text);
    throw new EngineError(
      'SQL',
      `${field}: The column "${names.join('.')}" is not one value per group: put it into groupBy, or into an aggregate as any_value is${place}`,
    );
  }
}

async function scalarFunctions(
  connection: DuckDBConnection,
  nodes: readonly Syntax[],
): Promise<ReadonlySet<string>> {
  const names = nodes.flatMap((node) => (node['class'] === 'FUNCTION' ? [functionName(node)] : []));
  if (names.length === 0) return new Set();
  const found = await connection.runAndReadAll(
    `SELECT function_name FROM duckdb_functions() WHERE function_name IN (${names.map(literal).join(', ')})
     GROUP BY 1 HAVING bool_and(function_type = 'scalar')`,
  );
  return new Set(found.getRows().map(([name]) => String(name)));
}

function firstName(node: Syntax): string | undefined {
  const names = node['column_names'];
  const first: unknown = Array.isArray(names) ? names[0] : undefined;
  return typeof first === 'string' ? first.toLowerCase() : undefined;
}

/** A SELECT of one expression or order term: nothing else of a statement came in with the text. */
function isBare(node: Syntax, terms: number | null): boolean {
  const {
    type,
    modifiers,
    select_list: list,
    from_table: from,
    where_clause,
    having,
    qualify,
    sample,
  } = node;
  if (type !== 'SELECT_NODE' || !isSyntax(from) || from['type'] !== 'EMPTY') return false;
  if ([where_clause, having, qualify, sample].some((part) => part != null)) return false;
  if (!isEmptyList(node['group_expressions']) || !isEmptyList(node['group_sets'])) return false;
  if (!Array.isArray(list) || list.length !== 1 || !isSyntax(list[0]) || list[0]['alias'] !== '')
    return false;
  if (!Array.isArray(modifiers)) return false;
  if (terms === null) return modifiers.length === 0;
  const [order] = modifiers as unknown[];
  return (
    modifiers.length === 1 &&
    isSyntax(order) &&
    order['type'] === 'ORDER_MODIFIER' &&
    Array.isArray(order['orders']) &&
    order['orders'].length === terms
  );
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** DuckDB shows a line of the statement and points at the character. */
const POINTED = /\n\nLINE (\d+): (.*)\n( *)\^$/s;

/**
 * Binds a text where it is going to stand, so that an unknown function or a wrong type is told with the author's own
 * line and column. `before` ends with a line break.
 */
export async function bindExpression(
  connection: DuckDBConnection,
  before: string,
  { field, text }: AuthorText,
  after: string,
): Promise<void> {
  try {
    (await connection.prepare(`${before}${text}${after}`)).destroySync();
  } catch (error) {
    const known = toEngineError(error, 'SQL');
    if (known.kind !== 'SQL') throw error;
    const pointed = POINTED.exec(known.message);
    const message = pointed ? known.message.slice(0, pointed.index) : known.message;
    throw new EngineError('SQL', `${field}: ${message}${pointed ? pointedPlace(pointed, before) : ''}`, {
      cause: error,
    });
  }
}

function pointedPlace([, number = '', shown = '', indent = '']: RegExpExecArray, before: string): string {
  const line = Number(number) - (before.split('\n').length - 1);
  if (line < 1) return '';
  // A long line is cut, and then the column is not known.
  const column = shown.startsWith('...') ? '' : `, column ${indent.length - `LINE ${number}: `.length + 1}`;
  return ` (line ${line}${column} of the SQL)`;
}
