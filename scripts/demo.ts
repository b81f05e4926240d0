import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

// A ticket and a pipeline run travel through the same graph. Needs a running server with the demo data:
// npm start, then npm run demo. OPSGRAPH_URL and DATA_DIR say where it is.
const url = process.env['OPSGRAPH_URL'] ?? `http://127.0.0.1:${process.env['PORT'] || 4000}`;
const root = path.resolve(import.meta.dirname, '..');
const files = path.join(path.resolve(root, process.env['DATA_DIR'] || '.opsgraph'), 'files');
const ROWS = 200_000;

type Headers = Record<string, string>;

async function call<T>(method: string, where: string, headers: Headers, body?: unknown): Promise<T> {
  const response = await fetch(`${url}${where}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${where} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

function subscriber(headers: Headers) {
  return createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: headers,
    retryAttempts: 0,
  });
}

async function timed<T>(what: string, step: () => Promise<T>): Promise<T> {
  const before = performance.now();
  const result = await step();
  console.log(`${what.padEnd(52)} ${(performance.now() - before).toFixed(0).padStart(7)} ms`);
  return result;
}

async function logInBoth(): Promise<{ agent: Headers; engineer: Headers }> {
  const { accessToken } = await timed('POST /v1/auth/login as agent@acme.test', () =>
    call<{ accessToken: string }>(
      'POST',
      '/v1/auth/login',
      {},
      {
        email: 'agent@acme.test',
        password: 'opsgraph-demo',
      },
    ),
  );
  const { access_token } = await timed('POST /oidc/token as demo-engineer', async () => {
    const response = await fetch(`${url}/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'demo-engineer',
        client_secret: 'opsgraph-demo',
      }),
    });
    return (await response.json()) as { access_token: string };
  });
  return {
    agent: { authorization: `Bearer ${accessToken}` },
    engineer: { authorization: `Bearer ${access_token}` },
  };
}

interface TicketEvents {
  ticketEvents: { seq: number; type: string; payload: { id: string; title: string } };
}

async function fileTicket(agent: Headers): Promise<void> {
  const client = subscriber(agent);
  const connected = new Promise((resolve) => client.on('connected', resolve));
  const events = client.iterate<TicketEvents>({
    query: 'subscription { ticketEvents { seq type payload } }',
  });
  const first = events.next();
  await connected;
  // The subscription is a message behind the connection; a query over the same socket comes back after it was taken.
  for await (const _ of client.iterate({ query: '{ tickets(limit: 1) { meta { pagination { total } } } }' }))
    break;
  const ticket = await timed('POST /v1/tickets', () =>
    call<{ id: string; number: number }>('POST', '/v1/tickets', agent, {
      title: 'Orders report is late again',
      impact: 'high',
      urgency: 'medium',
    }),
  );
  const { value } = await timed('  its event, over graphql-ws', () => first);
  const event = value?.data?.ticketEvents;
  if (event?.payload.id !== ticket.id)
    throw new Error(`expected the event of ${ticket.id}, got ${JSON.stringify(value)}`);
  console.log(`  ticket ${ticket.number}: ${event.type} (${event.seq}) "${event.payload.title}"`);
  await client.dispose();
}

async function makeFiles(): Promise<void> {
  await mkdir(files, { recursive: true });
  const script = path.join(root, 'examples/generate-orders.mjs');
  const child = spawn(process.execPath, [script, files, String(ROWS)], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the generator ended with ${code}`);
}

interface RunUpdates {
  runUpdates: {
    type: string;
    timestamp: string;
    status?: string;
    taskId?: string;
    rows?: number;
    level?: string;
    message?: string;
  };
}

async function runPipeline(engineer: Headers): Promise<void> {
  const yamlDefinition = await readFile(path.join(root, 'examples/orders.yaml'), 'utf8');
  const pipeline = await timed('POST /api/v1/pipelines', () =>
    call<{ id: string }>('POST', '/api/v1/pipelines', engineer, { name: 'orders', yamlDefinition }),
  );
  const run = await timed('POST /api/v1/pipelines/{id}/run', () =>
    call<{ runId: string; taskCount: number }>('POST', `/api/v1/pipelines/${pipeline.id}/run`, engineer),
  );
  const status = await timed(`  ${run.taskCount} tasks, followed over graphql-ws`, () =>
    follow(run.runId, engineer),
  );
  if (status !== 'COMPLETED') throw new Error(`the run ended as ${status}`);
}

function lineOf(update: RunUpdates['runUpdates'], started: Map<string, number>): string {
  const { type, timestamp, taskId = '', status, rows, level, message } = update;
  if (type === 'log') return `${level} ${message}`;
  const moment = Date.parse(timestamp);
  if (status === 'RUNNING') started.set(taskId, moment);
  const took = status === 'SUCCESS' ? ` ${rows} rows in ${moment - (started.get(taskId) ?? moment)} ms` : '';
  return `${taskId}: ${status}${took}`;
}

async function follow(runId: string, engineer: Headers): Promise<string | undefined> {
  const client = subscriber(engineer);
  const query = `subscription ($runId: UUID!) {
    runUpdates(runId: $runId, after: 0) { type timestamp status taskId rows level message }
  }`;
  const started = new Map<string, number>();
  let status: string | undefined;
  for await (const { data } of client.iterate<RunUpdates>({ query, variables: { runId } })) {
    const update = data?.runUpdates;
    if (update?.type === 'run') status = update.status;
    else if (update) console.log(`    ${lineOf(update, started)}`);
  }
  await client.dispose();
  return status;
}

async function showResult(): Promise<void> {
  const duckdb = await DuckDBInstance.create(':memory:');
  const connection = await duckdb.connect();
  const result = await connection.runAndReadAll(
    `SELECT * FROM '${path.join(files, 'results/daily.parquet').replaceAll("'", "''")}' ORDER BY ordered_on LIMIT 5`,
  );
  console.table(result.getRowObjectsJson());
  connection.closeSync();
  duckdb.closeSync();
}

const { agent, engineer } = await logInBoth();
await fileTicket(agent);
await timed(`generate ${ROWS} orders into DATA_DIR/files`, makeFiles);
await runPipeline(engineer);
await timed('read the result', showResult);
