import type { MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';

export interface Statement {
  text: string;
  values: readonly unknown[];
}

const ABOUT = /"(ticket|user|team|team_member|run_task)"|\bticket_total\b/;

/** What a statement of a request runs under comes in the same message (src/database/one-message.ts). */
const SETTINGS = /^set local [^\n]*\n/;

type Query = (this: unknown, ...given: unknown[]) => unknown;

/**
 * Keeps every statement about tickets, people, teams and tasks of runs that a connection of this ORM's pool sends from now on, as
 * PostgreSQL gets it. What polls in the background (the event feed) asks for other tables.
 */
export async function watchStatements(orm: MikroORM): Promise<{ statements: Statement[]; stop(): void }> {
  const pool = (await orm.em.getConnection().getNativeClient()) as Pool;
  const client = await pool.connect();
  const prototype = Object.getPrototypeOf(client) as { query: Query };
  client.release();
  const statements: Statement[] = [];
  const send = prototype.query;
  prototype.query = function query(...given) {
    const statement = statementOf(given);
    if (ABOUT.test(statement.text)) statements.push(statement);
    return send.apply(this, given);
  };
  const stop = () => {
    prototype.query = send;
  };
  return { statements, stop };
}

function statementOf([first, second]: unknown[]): Statement {
  const { text, values } = typeof first === 'string' ? { text: first, values: second } : (first as Statement);
  return { text: text.replace(SETTINGS, ''), values: Array.isArray(values) ? values : [] };
}
