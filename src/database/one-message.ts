import { escapeIdentifier, escapeLiteral, type Pool, type QueryResult } from 'pg';

type Variables = Readonly<Record<string, unknown>>;
interface Statement {
  readonly sql: string;
}
/** What MikroORM asks of a transaction that it opens around one statement. */
export interface OneMessage {
  executeQuery(statement: Statement): Promise<{ rows: unknown[]; numAffectedRows?: bigint }>;
}

const AFFECTING = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/**
 * A statement together with the settings it runs under, as one message. PostgreSQL runs a message as one transaction
 * (protocol, section "Multiple Statements in a Simple Query"), so that `set local` holds for the statement
 * and for nothing after it. Begin, setting, statement and commit each on
 * their own take a list to 0.63 of its rate; this costs nothing measurable (docs/decisions/keeping-tenants-apart.md).
 */
export function oneMessage(pool: Pool, variables: Variables): OneMessage {
  return {
    async executeQuery({ sql }) {
      const [result] = await allInOneMessage(pool, variables, [sql]);
      if (result === undefined) throw new Error('The database answered nothing');
      const affected = AFFECTING.has(result.command) ? { numAffectedRows: BigInt(result.rowCount ?? 0) } : {};
      return { rows: result.rows, ...affected };
    },
  };
}

/** The result of each statement; none of them counts when one fails. */
export async function allInOneMessage(
  pool: Pool,
  variables: Variables,
  statements: readonly string[],
): Promise<QueryResult[]> {
  // `set local` is half the price of `select set_config()`: nothing is planned and no row comes back.
  const settings = Object.entries(variables).map(
    ([name, value]) => `set local ${escapeSetting(name)} = ${escapeLiteral(String(value))};`,
  );
  // One result for one statement and a list of them for several, which the types do not know.
  const results: QueryResult | QueryResult[] = await pool.query(
    `${settings.join(' ')}\n${statements.join(';\n')}`,
  );
  return [results].flat().slice(settings.length);
}

/** `app.organization` is two identifiers. */
function escapeSetting(name: string): string {
  return name.split('.').map(escapeIdentifier).join('.');
}
