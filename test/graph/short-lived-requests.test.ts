import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { expect, it } from '@jest/globals';
import express from 'express';
import { pino } from 'pino';
import type { RequestContext } from '../../src/context.js';
import { createGraph } from '../../src/graph/create-graph.js';
import { askAgainAndAgain, keptByScavenges } from '../support/scavenge.js';

const REQUESTS = 500;
/** Bytes that each request's context holds. */
const BURDEN = 16_000;

it('keeps nothing of a GraphQL request beyond a scavenge', async () => {
  const log = pino({ level: 'silent' });
  const graph = await createGraph({
    schema: makeExecutableSchema({ typeDefs: 'type Query { a: String }' }),
    introspection: true,
    log,
    now: () => new Date(),
    authenticate: async () => ({}),
    createContext: (caller) => {
      const burden = Array.from({ length: BURDEN / 8 }, (_, n) => n + 0.5);
      return { requestId: 'req_1', caller, log, burden } as unknown as RequestContext;
    },
  });
  const app = express().use('/graphql', graph.router);
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  const ask = () =>
    askAgainAndAgain(REQUESTS, url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ a }"}',
    });
  try {
    await ask();
    expect(await keptByScavenges(ask)).toBeLessThan((REQUESTS * BURDEN) / 3);
  } finally {
    server.close();
    await graph.close();
  }
});
