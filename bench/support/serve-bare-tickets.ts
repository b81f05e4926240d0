/** The peer: Express and pg, the SQL that lists tickets, and nothing around it. Sends its address to the parent. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { openPool } from './open-pool.ts';

const [databaseUrl, poolSize, organizationId] = process.argv.slice(2);
const pool = openPool({ connectionString: databaseUrl, max: Number(poolSize) });

const PAGE = `
  select id, number, title, description, status, hold_reason as "holdReason", priority, impact, urgency, type,
    category, subcategory, tags, custom_fields as "customFields", requester_id as "requesterId",
    assignee_id as "assigneeId", team_id as "teamId", source, resolution, external_refs as "externalRefs",
    created_at as "createdAt", updated_at as "updatedAt", resolved_at as "resolvedAt", closed_at as "closedAt", version,
    (select coalesce(sum(total), 0)::int from ticket_total where organization_id = $1) as total
  from ticket where organization_id = $1 order by created_at desc, id desc limit $2 offset $3`;

interface Row {
  assigneeId?: string | null;
  total?: number;
}

const app = express();
app.get('/v1/tickets', async (request, response) => {
  const limit = Number(request.query['limit'] ?? 25);
  const page = Number(request.query['page'] ?? 1);
  const { rows } = await pool.query<Row>(PAGE, [organizationId, limit, (page - 1) * limit]);
  const total = rows[0]?.total ?? 0;
  for (const row of rows) {
    delete row.total;
    if (row.assigneeId === null) delete row.assigneeId;
  }
  const totalPages = Math.ceil(total / limit);
  const pagination = { page, limit, total, totalPages, hasMore: page < totalPages };
  response.json({ data: rows, meta: { pagination } });
});

const server = createServer(app).listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
