import type { DuckDBConnection } from '@duckdb/node-api';
import type { AuthorText } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import { assertExpression, assertOnePerGroup } from '../author-expression.js';
import { AuthorError, Sandbox } from '../javascript/sandbox.js';
import { assertReadsOnly } from '../select-only.js';
import { literal } from '../sql-text.js';

/** A syntax tree is some hundred times as long as its text. */
const MAX_CHARACTERS = 100_000;
const MAX_MESSAGE = 500;

/** Every text by the parser that will read it in a run. Texts that come after `isOver` are not judged. */
export async function judgeTexts(
  connection: DuckDBConnection,
  texts: readonly AuthorText[],
  isOver: () => boolean,
): Promise<(string | undefined)[]> {
  const faults: (string | undefined)[] = [];
  for (const text of texts) {
    if (isOver()) break;
    faults.push(text.text.length > MAX_CHARACTERS ? undefined : await faultOf(connection, text));
  }
  return faults;
}

/**
 * Only what a parser itself refuses is a fault of the text; DuckDB may have run out of memory instead.
 * @throws when the JavaScript interpreter broke down: what it says afterwards is not to be believed
 */
async function faultOf(connection: DuckDBConnection, text: AuthorText): Promise<string | undefined> {
  try {
    await read(connection, text);
    return undefined;
  } catch (error) {
    const fault = error instanceof AuthorError || (error instanceof EngineError && error.kind === 'SQL');
    if (fault) return error.message.slice(0, MAX_MESSAGE);
    if (text.language === 'javascript') throw error;
    return undefined;
  }
}

async function read(connection: DuckDBConnection, author: AuthorText): Promise<void> {
  switch (author.language) {
    case 'select':
      return assertReadsOnly(connection, author.text, author.inputs);
    case 'expression':
    case 'orderTerm':
      return assertExpression(connection, author, undefined, author.language);
    case 'measure':
      await assertExpression(connection, author, undefined);
      return assertOnePerGroup(connection, author, author.groupBy);
    case 'javascript':
      return Sandbox.parse(author.text);
    case 'regex':
      return readPattern(connection, author.text);
  }
}

const NO_PATTERN = /^Invalid Input Error: (.*)/s;

async function readPattern(connection: DuckDBConnection, pattern: string): Promise<void> {
  try {
    await connection.run(`SELECT regexp_matches('', ${literal(pattern)})`);
  } catch (cause) {
    const why = NO_PATTERN.exec(cause instanceof Error ? cause.message : '')?.[1];
    if (why !== undefined) throw new EngineError('SQL', `RE2 cannot read the pattern: ${why}`, { cause });
  }
}
