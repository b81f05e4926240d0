import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { param, route, routes, type StreamLife } from '../src/index.js';
import { document, type Library, library } from './support/library.js';
import { call, type Running, serve } from './support/server.js';

interface LoanResult {
  loans: { seq: number; note: string | null };
}
const Loans = document<LoanResult, { bookId: string; after?: number | null }>(
  'subscription Loans($bookId: ID!, $after: Int) { loans(bookId: $bookId, after: $after) { seq note } }',
);

const path = '/books/:id/live';
const common = {
  path,
  query: { after: param.int({ min: 0 }) },
  variables: ({ params, query }: { params: { id: string }; query: { after: number | undefined } }) => ({
    bookId: params.id,
    after: query.after,
  }),
  message: ({ loans }: LoanResult) => loans,
} as const;

/** Collects what a client gets, until it is closed. */
async function transcript(client: WebSocket): Promise<{ messages: unknown[]; code: number; reason: string }> {
  const messages: unknown[] = [];
  client.on('message', (data) => messages.push(JSON.parse(String(data))));
  const [code, reason] = (await once(client, 'close')) as [number, Buffer];
  return { messages, code, reason: String(reason) };
}

/** The HTTP answer to an upgrade that was refused. */
async function refusal(client: WebSocket): Promise<{ status: number | undefined; body: unknown }> {
  const [, response] = await once(client, 'unexpected-response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, body: JSON.parse(text) };
}

describe('WebSocket rows', () => {
  let lib: Library;
  let running: Running;
  beforeEach(() => {
    lib = library();
  });
  afterEach(() => running.close());

  async function start(
    row: object = {},
    context: (token: string | undefined) => unknown = () => ({}),
    lifeOf: () => StreamLife | undefined = () => undefined,
  ) {
    const table = routes(import.meta.url, [route.webSocket(Loans, { ...common, ...row } as never)]);
    running = await serve<unknown>({
      schema: lib.schema,
      tables: [table],
      lifeOf,
      context: (request) => context(request.headers['sec-websocket-protocol']),
    });
    return `ws://127.0.0.1:${running.port}/books/7/live`;
  }

  it("sends each result and closes with the row's code after the final message", async () => {
    const url = await start({
      closeWhen: ({ loans }: LoanResult) =>
        loans.note === 'over' ? { code: 1000, reason: 'returned' } : undefined,
    });
    const seen = transcript(new WebSocket(url));
    await lib.loans.untilReaders(1);
    lib.loans.publish({ seq: 1, bookId: '7', note: 'out' });
    lib.loans.publish({ seq: 2, bookId: '7', note: 'over' });
    lib.loans.publish({ seq: 3, bookId: '7', note: 'too late' });
    expect(await seen).toEqual({
      messages: [
        { seq: 1, note: 'out' },
        { seq: 2, note: 'over' },
      ],
      code: 1000,
      reason: 'returned',
    });
    expect(lib.loans.readers).toBe(0);
  });

  it('answers a refused context before the upgrade, rendered as over HTTP', async () => {
    const url = await start({}, () => {
      throw new Error('no reader card');
    });
    const answer = await refusal(new WebSocket(url));
    expect(answer).toEqual({ status: 500, body: { kind: 'thrown', message: 'no reader card' } });
    expect(lib.loans.readers).toBe(0);
  });

  it('answers bad parameters and a refused subscription before the upgrade', async () => {
    const url = await start();
    expect(await refusal(new WebSocket(`${url}?after=-1`))).toMatchObject({
      status: 400,
      body: { kind: 'input', problems: [{ field: 'after', constraint: 'min', in: 'query' }] },
    });
    const missing = url.replace('/7/', '/missing/');
    expect(await refusal(new WebSocket(missing))).toMatchObject({ status: 502, body: { kind: 'graphql' } });
    expect(await refusal(new WebSocket(url.replace('/7/', '/%zz/')))).toMatchObject({
      status: 400,
      body: { problems: [{ field: 'id', constraint: 'isPercentEncoded', in: 'path' }] },
    });
  });

  it('selects "bearer" and never echoes the token', async () => {
    const tokens: (string | undefined)[] = [];
    const url = await start({}, (token) => tokens.push(token));
    const client = new WebSocket(url, ['bearer', 'secret-token']);
    const [response] = await once(client, 'upgrade');
    expect(client.protocol === '' || client.protocol === 'bearer').toBe(true);
    expect(response.headers['sec-websocket-protocol']).toBe('bearer');
    expect(tokens).toEqual(['bearer,secret-token']);
    client.terminate();
    await lib.loans.untilReaders(0);
  });

  it('tells the source when the client leaves, by closing or by vanishing', async () => {
    const url = await start();
    for (const leave of ['close', 'terminate'] as const) {
      const client = new WebSocket(url);
      await once(client, 'open');
      await lib.loans.untilReaders(1);
      client[leave]();
      await lib.loans.untilReaders(0);
    }
    expect(lib.loans.readers).toBe(0);
  });

  it.each([
    ['the source breaks', (l: Library) => l.loans.fail(new Error('secret detail')), 1011, 'internal error'],
    ['the source ends', (l: Library) => l.loans.finish(), 1000, ''],
  ])('closes when %s', async (_what, happen, code, reason) => {
    const url = await start();
    const seen = transcript(new WebSocket(url));
    await lib.loans.untilReaders(1);
    happen(lib);
    expect(await seen).toEqual({ messages: [], code, reason });
    expect(running.unexpected).toHaveLength(code === 1011 ? 1 : 0);
  });

  it('closes with 1011 when a row names a close code that does not exist', async () => {
    const url = await start({ closeWhen: () => ({ code: 1006 }) });
    const seen = transcript(new WebSocket(url));
    lib.loans.publish({ seq: 1, bookId: '7', note: null });
    expect(await seen).toMatchObject({ code: 1011 });
  });

  it('ends after its maximum life', async () => {
    const seen = transcript(new WebSocket(await start({ maxLifeMs: 30 })));
    expect(await seen).toMatchObject({ code: 1001, reason: 'maximum life reached' });
    expect(lib.loans.readers).toBe(0);
  });

  it.each([
    ['sooner', 60_000, { ms: 30, close: { code: 4403, reason: 'TOKEN_EXPIRED' } }, 4403],
    ['later', 30, { ms: 2 ** 40, close: { code: 4403, reason: 'TOKEN_EXPIRED' } }, 1001],
  ])('ends with the life of its context when that ends %s', async (_when, maxLifeMs, life, code) => {
    const seen = transcript(new WebSocket(await start({ maxLifeMs }, undefined, () => life)));
    expect(await seen).toMatchObject({ messages: [], code });
    expect(lib.loans.readers).toBe(0);
  });

  it('stays open when the life of its context is longer than a timer can be', async () => {
    const life = { ms: 2 ** 40, close: { code: 4403 } };
    const client = new WebSocket(await start({ pingMs: 30 }, undefined, () => life));
    const seen = transcript(client);
    await Promise.race([once(client, 'ping'), seen]);
    await running.bridge.close();
    expect(await seen).toMatchObject({ code: 1001, reason: 'server is stopping' });
  });

  it('is ended by close()', async () => {
    const client = new WebSocket(await start());
    const seen = transcript(client);
    await once(client, 'open');
    await running.bridge.close();
    expect(await seen).toMatchObject({ code: 1001, reason: 'server is stopping' });
    expect(lib.loans.readers).toBe(0);
  });

  it('drops a client that answers no ping', async () => {
    const url = await start({ pingMs: 20 });
    const client = new WebSocket(url, { autoPong: false });
    expect(await transcript(client)).toMatchObject({ code: 1006 });
    expect(lib.loans.readers).toBe(0);
  });

  it('drops a client that does not read', async () => {
    const url = await start({ maxBufferedBytes: 65_536, stallMs: 50 });
    for (let seq = 1; seq <= 300; seq += 1)
      lib.loans.publish({ seq, bookId: '7', note: 'x'.repeat(100_000) });
    const client = new WebSocket(url);
    client.once('open', () => client.pause());
    await lib.loans.untilReaders(1);
    await lib.loans.untilReaders(0);
    client.terminate();
    expect(lib.loans.readers).toBe(0);
  });

  it('lets go of the source when the handshake is refused after it was opened', async () => {
    await start();
    const socket = connect(running.port, '127.0.0.1');
    socket.write('GET /books/7/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n');
    socket.write('Sec-WebSocket-Version: 1\r\nSec-WebSocket-Key: bad\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400/);
    socket.destroy();
    await lib.loans.untilReaders(0);
    expect(lib.loans.readers).toBe(0);
  });

  it('leaves other paths to the host', async () => {
    const url = await start();
    const [, response] = await once(new WebSocket(url.replace('/live', '/other')), 'unexpected-response');
    expect(response.statusCode).toBe(404);
  });

  it('answers a request without an upgrade that it needs one, once its context and parameters hold', async () => {
    await start({}, (token) => {
      if (token === 'refused') throw new Error('no reader card');
    });
    const plain = await call(`${running.url}/books/7/live`);
    expect(plain).toMatchObject({ status: 426, body: { kind: 'upgrade-required', upgrade: 'websocket' } });
    expect([plain.headers.get('upgrade'), plain.headers.get('connection')]).toEqual(['websocket', 'upgrade']);
    const refused = { 'sec-websocket-protocol': 'refused' };
    expect(await call(`${running.url}/books/7/live`, 'GET', undefined, refused)).toMatchObject({
      status: 500,
      body: { kind: 'thrown', message: 'no reader card' },
    });
    expect(await call(`${running.url}/books/7/live?after=-1`)).toMatchObject({ status: 400 });
    const post = await call(`${running.url}/books/7/live`, 'POST', {});
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, OPTIONS']);
    expect(lib.loans.readers).toBe(0);
  });

  it.each([true, false])(
    'leaves plain GET to another row of the path (which comes first: %s)',
    async (isFirst) => {
      const Book = document<object, { id: string }>('query Book($id: ID!) { book(id: $id) { id } }');
      const rows = [
        route(Book, { method: 'GET', path, variables: ({ params }) => ({ id: params.id }) }),
        route.webSocket(Loans, common),
      ];
      const table = routes(import.meta.url, isFirst ? rows : rows.reverse());
      running = await serve<unknown>({ schema: lib.schema, tables: [table] });
      expect(await call(`${running.url}/books/1/live`)).toMatchObject({ status: 200, body: { id: '1' } });
      expect((await call(`${running.url}/books/1/live`, 'HEAD')).status).toBe(200);
      expect((await call(`${running.url}/books/1/live`, 'OPTIONS')).headers.get('allow')).toBe(
        'GET, HEAD, OPTIONS',
      );
    },
  );
});
