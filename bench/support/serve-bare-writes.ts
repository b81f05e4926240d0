/** The peer: Express and pg, the statements that write a ticket or a run, and nothing around them. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { PoolClient } from 'pg';
import { openPool } from './open-pool.ts';

const [databaseUrl, poolSize, organizationId, workspaceId, userId, pipelineId] = process.argv.slice(2);
const pool = openPool({ connectionString: databaseUrl, max: Number(poolSize) });

async function transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    client.release();
  }
}

const app = express();
app.use(express.json());

app.post('/v1/tickets', async (request, response) => {
  const ticket = await transaction(async (client) => {
    const counted = await client.query(
      `insert into ticket_counter (organization_id, last_number) values ($1, 1)
       on conflict (organization_id) do update set last_number = ticket_counter.last_number + 1 returning last_number`,
      [organizationId],
    );
    const { rows } = await client.query(
      `insert into ticket (id, organization_id, number, title, status, priority, impact, urgency, type, requester_id,
         source, created_at, updated_at, version, tags, custom_fields, external_refs)
       values ($1, $2, $3, $4, 'new', 'high', $5, $6, 'incident', $7, 'api', now(), now(), 1, '{}', '{}', '{}')
       returning *`,
      [
        `tkt_${randomUUID()}`,
        organizationId,
        counted.rows[0].last_number,
        request.body.title,
        request.body.impact,
        request.body.urgency,
        userId,
      ],
    );
    await client.query(
      `insert into event (id, organization_id, type, subject_id, payload, timestamp)
       values ($1, $2, 'ticket.created', $3, $4, now())`,
      [
        `evt_${randomUUID()}`,
        organizationId,
        rows[0].id,
        JSON.stringify({ id: rows[0].id, title: rows[0].title }),
      ],
    );
    return rows[0];
  });
  response.status(201).json(ticket);
});

app.post('/api/v1/pipelines/:id/run', async (_request, response) => {
  const runId = randomUUID();
  await transaction(async (client) => {
    const { rows } = await client.query('select * from pipeline where id = $1 for share', [pipelineId]);
    await client.query(
      `insert into run (id, organization_id, workspace_id, pipeline_id, pipeline_version, yaml_definition, state, engine,
         task_count, triggered_by, last_seq, created_at)
       values ($1, $2, $3, $4, 1, $5, 'QUEUED', 'BATCH', 3, 'bench', 1, now())`,
      [runId, organizationId, workspaceId, pipelineId, rows[0].yaml_definition],
    );
    await client.query(
      `insert into run_task (run_id, task_id, position, status) values ($1, 'a', 0, 'PENDING'), ($1, 'b', 1, 'PENDING'),
         ($1, 't', 2, 'PENDING')`,
      [runId],
    );
    await client.query(
      `insert into run_message (run_id, seq, type, body, timestamp) values ($1, 1, 'run', '{"status":"PENDING"}', now())`,
      [runId],
    );
  });
  response.status(202).json({ runId, pipelineId, status: 'PENDING', taskCount: 3, engine: 'BATCH' });
});

const server = createServer(app).listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
