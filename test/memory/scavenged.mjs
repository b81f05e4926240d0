// What short-lived.test.ts starts for each of its cases: prints how many bytes outlive the scavenges, of how many that were
// tied to what was served. A process of its own: in one that ran other tests, these keep things alive as well.
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import express from 'express';
import { buildSchema } from 'graphql';
import { Client } from 'pg';
import { pino } from 'pino';
import { FrugalClient } from '../../dist/database/frugal-client.js';
import { createGateway } from '../../dist/gateway/create-gateway.js';
import { createGraph } from '../../dist/graph/create-graph.js';

const TIMES = 500;
const BURDEN_BYTES = 16_000;
const burden = () => Array.from({ length: BURDEN_BYTES / 8 }, (_, n) => n + 0.5);
const log = pino({ level: 'silent' });

/** One request after the other over one connection. */
async function ask(app, path, { body, ...options }) {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}${path}`;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return async () => {
    for (let n = 0; n < TIMES; n += 1) {
      const [response] = await once(request(url, { ...options, agent }).end(body), 'response');
      await once(response.resume(), 'end');
      if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
    }
  };
}

async function query(client) {
  await client.connect();
  return async () => {
    for (let n = 0; n < TIMES; n += 1)
      await client.query(`select repeat(g::text, ${BURDEN_BYTES / 20}) from generate_series(1, 20) g`);
  };
}

const CASES = {
  'a short answer': () => {
    const { app } = createGateway({
      log,
      readiness: { stage: 'ready' },
      surfaces: [],
      mount: (routes) => {
        routes.get('/short', (asked, response) => {
          Object.assign(asked, { burden: burden() });
          response.json({});
        });
      },
    });
    return ask(app, '/short', { headers: { 'accept-encoding': 'gzip' } });
  },
  'a GraphQL operation': async () => {
    const graph = await createGraph({
      schema: buildSchema('type Query { a: String }'),
      introspection: true,
      log,
      now: () => new Date(),
      authenticate: async () => ({}),
      createContext: (caller) => ({ requestId: 'req_1', caller, log, burden: burden() }),
    });
    return ask(express().use('/graphql', graph.router), '/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ a }"}',
    });
  },
  "a query of pg's own client": (connectionString) => query(new Client({ connectionString })),
  'a query of the frugal client': (connectionString) => query(new FrugalClient({ connectionString })),
};

const [name, databaseUrl] = process.argv.slice(2);
const serve = await CASES[name](databaseUrl);
await serve();
globalThis.gc();
const before = process.memoryUsage().heapUsed;
await serve();
// What lives is copied once and only then old; a third for what the second one sets free.
for (let times = 0; times < 3; times += 1) globalThis.gc({ type: 'minor' });
const kept = process.memoryUsage().heapUsed - before;
process.stdout.write(JSON.stringify({ kept, tied: TIMES * BURDEN_BYTES }), () => process.exit());
