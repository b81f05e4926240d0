import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Statement, watchStatements } from './statements.js';
import { everyOrder, openTicketList, type Query, type TicketList } from './ticket-list.js';
import type { TicketServer, Who } from './ticket-server.js';

let server: TicketServer;
let list: TicketList['list'];
let expected: TicketList['expected'];

beforeAll(async () => {
  ({ server, list, expected } = await openTicketList());
});
afterAll(() => server?.close());

describe('what a list costs', () => {
  let statements: Statement[];
  let stop: () => void;
  beforeAll(async () => {
    ({ statements, stop } = await watchStatements(server.database.orm));
  });
  afterAll(() => stop());

  const cursor = () => expected('createdAt', 'desc')[40] ?? '';
  it.each<[string, Who, () => Query, number, number]>([
    ['a page of all', 'manager@acme', () => ({}), 1, 0],
    ['a page of a status', 'manager@acme', () => ({ status: 'open,new' }), 1, 0],
    ['a page behind the last', 'manager@acme', () => ({ page: 99 }), 2, 0],
    ['an empty first page', 'manager@acme', () => ({ q: 'unicorn' }), 1, 1],
    ['a cursor of all', 'manager@acme', () => ({ starting_after: cursor() }), 2, 0],
    ['a filtered page', 'manager@acme', () => ({ priority: 'high', status: 'open' }), 1, 1],
    ['a filtered cursor', 'manager@acme', () => ({ q: 'printer', ending_before: cursor() }), 2, 1],
    ["an agent's page", 'agent@acme', () => ({}), 1, 1],
    ["a requester's page", 'user@acme', () => ({ status: 'open' }), 1, 1],
  ])(
    '%s is few statements, counting only what no total is kept of',
    async (_what, who, query, sent, counts) => {
      await list({ limit: 1 }, who);
      statements.length = 0;
      const { status } = await list(query(), who);
      expect(status).toBe(200);
      expect(statements).toHaveLength(sent);
      expect(statements.filter(({ text }) => /count\(\*\)/i.test(text))).toHaveLength(counts);
    },
  );

  it.each(everyOrder)('%s %s comes from an index, wherever it starts', async (sortBy, sortOrder) => {
    await list({ limit: 1 });
    statements.length = 0;
    await list({ sortBy, sortOrder });
    await list({ sortBy, sortOrder, starting_after: cursor() });
    const reads = statements.filter(({ text }) => /limit/i.test(text));
    expect(reads).toHaveLength(2);
    for (const [at, read] of reads.entries()) {
      const plan = await planOf(read);
      // Numbers are unique: sorting their ties by id is sorting one row at a time.
      expect(plan.replace('Incremental Sort', '')).not.toMatch(/Sort {2}\(|Seq Scan/);
      expect(plan).toMatch(
        at === 0 ? /Index Cond: \(organization_id = / : /Index Cond: \(.*organization_id = .* AND /,
      );
    }
  });

  /** As a table of millions would be planned: this one is small enough to be read whole. */
  async function planOf({ text, values }: Statement): Promise<string> {
    return server.database.orm.em.fork().transactional(async (em) => {
      await em.execute('set local enable_seqscan = off');
      await em.execute('set local enable_bitmapscan = off');
      await em.execute('set local enable_sort = off');
      const inlined = text.replace(/\$(\d+)/g, (_, at) => literal(values[Number(at) - 1]));
      const lines = await em.execute<{ 'QUERY PLAN': string }[]>(`explain ${inlined}`);
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    });
  }
});

function literal(value: unknown): string {
  return typeof value === 'number' ? `${value}` : `'${String(value).replaceAll("'", "''")}'`;
}
