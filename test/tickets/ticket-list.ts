import { seedTickets } from '../../bench/support/seed-tickets.js';
import { type Answer, startTicketServer, type TicketServer, type Who } from './ticket-server.js';

export interface Row {
  id: string;
  number: number;
  title: string;
  description: string;
  status: string;
  priority: string;
  type: string;
  category: string;
  tags: string[];
  requesterId: string;
  assigneeId: string | null;
  teamId: string | null;
  createdAt: string;
  updatedAt: string;
  dueAt: string | null;
}

export const COUNT = 400;
const UNTIL = new Date('2026-05-01T00:00:00Z');

export type Query = Record<string, string | number | string[]>;

/** A ticket server in which each organization has many tickets. */
export interface TicketList {
  server: TicketServer;
  /** The whole of acme as the database has it, in no order. */
  rows: Row[];
  list(query?: Query, who?: Who): Promise<Answer>;
  /** The ids a list of these rows has to hold, in order. */
  expected(sortBy: string, sortOrder: 'asc' | 'desc', from?: Row[]): string[];
}

export async function openTicketList(): Promise<TicketList> {
  const server = await startTicketServer();
  for (const slug of ['globex', 'acme'] as const) {
    const { organizationId, userIds, teamId } = server.tenants[slug];
    await seedTickets({
      databaseUrl: server.database.url,
      organizationId,
      userIds: Object.values(userIds),
      teamIds: [teamId],
      count: COUNT,
      until: UNTIL,
    });
  }
  const rows = await rowsOf(server);
  return {
    server,
    rows,
    list(query = {}, who = 'manager@acme') {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query))
        for (const item of Array.isArray(value) ? value : [value]) search.append(name, `${item}`);
      return server.rest(who, 'GET', `/v1/tickets?${search}`);
    },
    expected(sortBy, sortOrder, from = rows) {
      const key = sorts[sortBy];
      if (!key) throw new Error(`no such order: ${sortBy}`);
      return idsOf(ordered(from, key, sortOrder));
    },
  };
}

function rowsOf(server: TicketServer): Promise<Row[]> {
  return server.database.orm.em.fork().execute<Row[]>(
    `select id, number, title, description, status, priority, type, category, tags,
       requester_id as "requesterId", assignee_id as "assigneeId", team_id as "teamId",
       to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
       to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
       to_char(resolution_due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "dueAt"
     from ticket where organization_id = ?`,
    [server.tenants.acme.organizationId],
  );
}

export const idsOf = (tickets: { id: string }[]) => tickets.map(({ id }) => id);

/** The order the document asks for, by other means than SQL. */
function ordered(from: Row[], key: (row: Row) => string | number | null, order: 'asc' | 'desc'): Row[] {
  const sign = order === 'asc' ? 1 : -1;
  return from.toSorted((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x !== y) {
      if (x === null) return 1;
      if (y === null) return -1;
      return (x < y ? -1 : 1) * sign;
    }
    return (a.id < b.id ? -1 : 1) * sign;
  });
}

const ranks = ['low', 'medium', 'high', 'critical'];
const sorts: Record<string, (row: Row) => string | number | null> = {
  createdAt: (row) => row.createdAt,
  updatedAt: (row) => row.updatedAt,
  priority: (row) => ranks.indexOf(row.priority),
  status: (row) => row.status,
  title: (row) => row.title,
  number: (row) => row.number,
  dueAt: (row) => row.dueAt,
};
const orders = ['asc', 'desc'] as const;
export const everyOrder = Object.keys(sorts).flatMap((sortBy) =>
  orders.map((sortOrder) => [sortBy, sortOrder] as const),
);
