/**
 * The types it declares would stay in the graph of later files.
 * @jest-environment node
 */
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import type { GraphOptions } from '../../src/graph/create-graph.js';
import { callers, type GraphServer, REQUEST_ID, startGraphServer } from './graph-server.js';
import { clock } from './library.js';

let server: GraphServer;
const clients: Client[] = [];

beforeEach(async () => {
  server = await startGraphServer();
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.dispose()));
  await server.close();
});

function connect(connectionParams: Record<string, unknown> = {}, to = server): Client {
  const client = createClient({
    url: to.webSocketUrl,
    webSocketImpl: WebSocket,
    connectionParams,
    retryAttempts: 0,
  });
  clients.push(client);
  return client;
}

const reader = { authorization: 'Bearer reader' };

/** A raw socket that has said connection_init. */
async function open(params: Record<string, unknown>, to = server, headers: Record<string, string> = {}) {
  const socket = new WebSocket(to.webSocketUrl, 'graphql-transport-ws', { headers });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: params }));
  return socket;
}

async function message(socket: WebSocket): Promise<Record<string, unknown>> {
  const [data] = await once(socket, 'message');
  return JSON.parse(String(data));
}

async function closing(socket: WebSocket): Promise<[number, string]> {
  const [code, reason] = await once(socket, 'close');
  return [code, String(reason)];
}

/** Resolves when the source is (or is no longer) followed: the server says so by the set alone. */
async function followed(name: string, expected: boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (clock.following.has(name) !== expected) {
    if (Date.now() > deadline) throw new Error(`${name} is ${expected ? 'not ' : 'still '}followed`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const ticks = (name: string, failAt?: number) => ({
  query: 'subscription ($name: String!, $failAt: Int) { ticks(name: $name, failAt: $failAt) { n caller } }',
  variables: { name, failAt },
});

describe('operations', () => {
  it('answers a query', async () => {
    const answers = connect().iterate({ query: '{ book { id printedAt } }' });
    expect(await answers.next()).toEqual({
      done: false,
      value: { data: { book: { id: 'b1', printedAt: '1961-01-01T00:00:00.000Z' } } },
    });
    expect((await answers.next()).done).toBe(true);
  });

  it('hands on each event, resolved for its caller, with the arguments of the subscription', async () => {
    const events = connect(reader).iterate(ticks('arguments', 2));
    const first = events.next();
    await followed('arguments', true);
    clock.tick('arguments', 1);
    expect((await first).value).toEqual({ data: { ticks: { n: 1, caller: 'usr_reader' } } });
    clock.tick('arguments', 2);
    expect((await events.next()).value).toEqual({
      data: null,
      errors: [
        {
          message: 'An unexpected error occurred',
          path: ['ticks'],
          locations: [{ line: 1, column: 47 }],
          extensions: { code: 'INTERNAL_ERROR', requestId: REQUEST_ID },
        },
      ],
    });
    clock.tick('arguments', 3);
    expect((await events.next()).value.data.ticks.n).toBe(3);
    expect(server.log.join('')).toContain('hunter2');
  });

  it('ends the source at once when the client unsubscribes while it waits', async () => {
    const events = connect(reader).iterate(ticks('unsubscribed'));
    const pending = events.next();
    await followed('unsubscribed', true);
    await events.return?.();
    await followed('unsubscribed', false);
    expect((await pending).done).toBe(true);
  });

  it('ends the sources of a client that is gone without a word', async () => {
    const socket = await open(reader);
    await message(socket);
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: ticks('vanished') }));
    await followed('vanished', true);
    socket.terminate();
    await followed('vanished', false);
  });

  it.each([
    ['GRAPHQL_PARSE_FAILED', { query: '{ book' }],
    ['GRAPHQL_VALIDATION_FAILED', { query: '{ bok }' }],
    ['OPERATION_RESOLUTION_FAILURE', { query: 'query A { book { id } }', operationName: 'B' }],
    ['BAD_USER_INPUT', { query: ticks('x').query, variables: { name: 5 } }],
    ['BAD_USER_INPUT', { query: 'query ($i: EchoInput) { echo(input: $i) }', variables: { i: 5 } }],
    ['AUTHENTICATION_ERROR', { query: '{ catalogue }' }],
  ])('refuses with %s: %j', async (code, payload) => {
    const socket = await open(reader);
    await message(socket);
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
    const answer = await message(socket);
    const errors =
      answer['type'] === 'error' ? answer['payload'] : (answer['payload'] as { errors: [] }).errors;
    expect(errors).toEqual([expect.objectContaining({ extensions: expect.objectContaining({ code }) })]);
    socket.terminate();
  });

  it('refuses the 51st operation of one connection and keeps the others', async () => {
    const socket = await open(reader);
    await message(socket);
    for (let n = 0; n < 51; n++) {
      socket.send(JSON.stringify({ id: `${n}`, type: 'subscribe', payload: ticks(`many ${n}`) }));
    }
    expect(await message(socket)).toMatchObject({
      id: '50',
      type: 'error',
      payload: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }],
    });
    expect([...clock.following].filter((name) => name.startsWith('many'))).toHaveLength(50);
    socket.terminate();
    await followed('many 0', false);
  });
});

describe('who is asking', () => {
  it('refuses a subscription to a caller without the permission, and never opens its source', async () => {
    for (const [params, code] of [
      [{}, 'AUTHENTICATION_ERROR'],
      [{ authorization: 'Bearer stranger' }, 'AUTHORIZATION_ERROR'],
    ] as const) {
      const { value } = await connect(params).iterate(ticks('forbidden')).next();
      expect(value.errors).toEqual([
        expect.objectContaining({ path: ['ticks'], extensions: expect.objectContaining({ code }) }),
      ]);
      expect(clock.following.has('forbidden')).toBe(false);
    }
  });

  it.each([
    ['Bearer junk', 4401, 'TOKEN_INVALID'],
    ['Bearer expired', 4403, 'TOKEN_EXPIRED'],
    ['Bearer away', 1013, 'SERVICE_UNAVAILABLE'],
    [5, 4401, 'TOKEN_INVALID'],
  ])('closes a connection that brings %s with %d', async (authorization, code, reason) => {
    const socket = await open({ authorization });
    expect(await closing(socket)).toEqual([code, reason]);
  });

  it('takes the token from the header when connection_init has none', async () => {
    const socket = await open({}, server, reader);
    expect(await message(socket)).toMatchObject({ type: 'connection_ack' });
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: ticks('by header') }));
    await followed('by header', true);
    socket.terminate();
    await followed('by header', false);
  });

  it('closes a connection that speaks before connection_init', async () => {
    const socket = new WebSocket(server.webSocketUrl, 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ book { id } }' } }));
    expect(await closing(socket)).toEqual([4401, 'Unauthorized']);
  });
});

describe('an open connection', () => {
  async function withServer(options: Partial<GraphOptions>, work: (own: GraphServer) => Promise<void>) {
    const own = await startGraphServer(options);
    try {
      await work(own);
    } finally {
      await own.close();
    }
  }

  it('is closed when its token runs out, and its sources end', async () => {
    const { itsm } = callers['Bearer reader'] ?? {};
    const authenticate = async () => (itsm ? { itsm: { ...itsm, expiresAt: 1_000_000_000 } } : {});
    const now = () => new Date(1_000_000_000 - 200);
    await withServer({ authenticate, now }, async (own) => {
      const socket = await open(reader, own);
      await message(socket);
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: ticks('expiring') }));
      await followed('expiring', true);
      expect(await closing(socket)).toEqual([4403, 'TOKEN_EXPIRED']);
      await followed('expiring', false);
    });
  });

  it('is closed once its credential is no longer good, and not while that cannot be known', async () => {
    const { AppError } = await import('../../src/errors.js');
    const verdicts: (() => void)[] = [
      () => undefined,
      () => {
        throw new AppError('SERVICE_UNAVAILABLE', 'away');
      },
      () => {
        throw new AppError('TOKEN_INVALID', 'revoked');
      },
    ];
    let asked = 0;
    const authenticate = async () => {
      verdicts[asked++]?.();
      return callers['Bearer reader'] ?? {};
    };
    await withServer({ authenticate, webSocketLimits: { recheckMs: 20 } }, async (own) => {
      const socket = await open(reader, own);
      expect(await closing(socket)).toEqual([4401, 'TOKEN_INVALID']);
      expect(asked).toBe(3);
    });
  });

  it('is cut when it answers no ping', async () => {
    await withServer({ webSocketLimits: { keepAliveMs: 30 } }, async (own) => {
      const socket = new WebSocket(own.webSocketUrl, 'graphql-transport-ws', { autoPong: false });
      await once(socket, 'open');
      expect(await closing(socket)).toEqual([1006, '']);
    });
  });

  it('is cut when it reads more slowly than it asks', async () => {
    await withServer({ webSocketLimits: { maxBufferedBytes: 100_000 } }, async (own) => {
      const socket = await open({}, own);
      await message(socket);
      socket.pause();
      const list = Array.from({ length: 1_000 }, () => 'x'.repeat(500));
      const payload = { query: 'query ($list: [String!]) { echo(list: $list) }', variables: { list } };
      for (let n = 0; n < 40; n++) socket.send(JSON.stringify({ id: `${n}`, type: 'subscribe', payload }));
      while (!own.log.some((line) => line.includes('slow GraphQL WebSocket'))) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.resume();
      expect((await closing(socket))[0]).toBe(1006);
    });
  });

  it('is told that the server goes away, and its sources end before close() returns', async () => {
    const socket = await open(reader);
    await message(socket);
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: ticks('closing') }));
    await followed('closing', true);
    const closed = closing(socket);
    await server.closeGraph();
    expect(clock.following.has('closing')).toBe(false);
    expect(await closed).toEqual([1001, 'Going away']);
  });
});
