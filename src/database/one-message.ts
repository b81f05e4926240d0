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
  // `set local` is half the price of `select set_config()`: nothing is planned and no row comes back.
  const settings = Object.entries(variables).map(
    ([name, value]) => `set local ${escapeSetting(name)} = ${escapeLiteral(String(value))};`,
  );
  const prefix = `${settings.join(' ')}\n`;
  return {
    async executeQuery({ sql }) {
      // A message of several statements answers with as many results, which the types do not know.
      const results = (await pool.query(prefix + sql)) as unknown as QueryResult[];
      const last = results.at(-1);
      if (last === undefined) throw new Error('The database answered nothing');
      const affected = AFFECTING.has(last.command) ? { numAffectedRows: BigInt(last.rowCount ?? 0) } : {};
      return { rows: last.rows, ...affected };
    },
  };
}

/** `app.organization` is two identifiers. */
function escapeSetting(name: string): string {
  return name.split('.').map(escapeIdentifier).join('.');
}
