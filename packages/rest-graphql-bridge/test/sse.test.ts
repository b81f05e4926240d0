import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { param, route, routes } from '../src/index.js';
import { document, type Library, library } from './support/library.js';
import { call, type Running, serve } from './support/server.js';

interface LoanResult {
  loans: { seq: number; note: string | null };
}
const Loans = document<LoanResult, { bookId: string; after?: number | null }>(
  'subscription Loans($bookId: ID!, $after: Int) { loans(bookId: $bookId, after: $after) { seq note } }',
);

const common = {
  path: '/books/:id/loans',
  query: { note: param.string() },
  variables: ({ params, lastEventId }: { params: { id: string }; lastEventId: string | undefined }) => ({
    bookId: params.id,
    after: lastEventId === undefined ? undefined : Number(lastEventId),
  }),
  event: ({ loans }: LoanResult) => ({ event: 'loan', id: loans.seq, data: loans }),
} as const;

/** Reads a stream until what has come matches, and gives all of it. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, pattern: RegExp): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  while (!pattern.test(text)) {
    const { value, done } = await reader.read();
    if (done) return `${text}<end>`;
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

async function open(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  if (!response.body) throw new Error('no body');
  return { response, reader: response.body.getReader() };
}

describe('server-sent events', () => {
  let lib: Library;
  let running: Running | undefined;
  beforeEach(() => {
    lib = library();
  });
  afterEach(() => running?.close());

  async function start(
    options: Partial<
      Parameters<typeof route.sse<LoanResult, { bookId: string }, '/books/:id/loans'>>[1]
    > = {},
  ) {
    const tables = [routes(import.meta.url, [route.sse(Loans, { ...common, ...options } as never)])];
    running = await serve({ schema: lib.schema, tables });
    return running;
  }

  it('sends retry, the first event, then each result with name and id', async () => {
    const { url } = await start({
      retryMs: 2500,
      connected: () => ({ event: 'connected', data: { ok: true } }),
    });
    const { response, reader } = await open(`${url}/books/7/loans`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toContain('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    lib.loans.publish({ seq: 1, bookId: '7', note: 'two\nlines' });
    lib.loans.publish({ seq: 2, bookId: '8', note: 'another book' });
    lib.loans.publish({ seq: 3, bookId: '7', note: null });
    expect(await readUntil(reader, /id: 3\n.*\n\n/)).toBe(
      'retry: 2500\n\nevent: connected\ndata: {"ok":true}\n\n' +
        'event: loan\nid: 1\ndata: {"seq":1,"note":"two\\nlines"}\n\n' +
        'event: loan\nid: 3\ndata: {"seq":3,"note":null}\n\n',
    );
    await reader.cancel();
  });

  it('splits text over data lines and lets no name or id start a field of its own', async () => {
    const { url } = await start({ event: () => ({ event: 'a\nb', id: 'x\ry', data: 'one\r\ntwo\rthree' }) });
    const { reader } = await open(`${url}/books/7/loans`);
    lib.loans.publish({ seq: 1, bookId: '7', note: null });
    expect(await readUntil(reader, /three\n\n/)).toBe(
      'event: a b\nid: x y\ndata: one\ndata: two\ndata: three\n\n',
    );
    await reader.cancel();
  });

  it('resumes after Last-Event-ID, from the header or the query', async () => {
    const { url } = await start();
    for (const seq of [1, 2, 3]) lib.loans.publish({ seq, bookId: '7', note: null });
    const byHeader = await open(`${url}/books/7/loans`, { 'last-event-id': '2' });
    expect(await readUntil(byHeader.reader, /\n\n/)).toContain('id: 3');
    const byQuery = await open(`${url}/books/7/loans?lastEventId=1`);
    expect(await readUntil(byQuery.reader, /id: 3/)).toMatch(/^event: loan\nid: 2/);
    await Promise.all([byHeader.reader.cancel(), byQuery.reader.cancel()]);
  });

  it.each([
    [{ heartbeatEvent: 'heartbeat' }, /event: heartbeat\ndata: \{\}\n\n/],
    [{}, /^:\n\n/],
  ])('sends a heartbeat in silence %#', async (options, pattern) => {
    const { url } = await start({ heartbeatMs: 15, ...options });
    const { reader } = await open(`${url}/books/7/loans`);
    expect(await readUntil(reader, pattern)).toMatch(pattern);
    await reader.cancel();
  });

  it('unsubscribes at once when the client leaves, though no event comes', async () => {
    const { url } = await start();
    const { reader } = await open(`${url}/books/7/loans`);
    await lib.loans.untilReaders(1);
    await reader.cancel();
    await lib.loans.untilReaders(0);
    expect(lib.loans.readers).toBe(0);
  });

  it('ends after its maximum life, and when the source ends', async () => {
    const { url } = await start({ maxLifeMs: 30 });
    const { reader } = await open(`${url}/books/7/loans`);
    expect(await readUntil(reader, /never/)).toBe('<end>');
    expect(lib.loans.readers).toBe(0);
    const second = await open(`${url}/books/7/loans`);
    lib.loans.finish();
    expect(await readUntil(second.reader, /never/)).toBe('<end>');
  });

  it('answers errors before the first byte as ordinary HTTP', async () => {
    const { url } = await start({ unknownQuery: 'refuse' });
    expect(await call(`${url}/books/missing/loans`)).toMatchObject({
      status: 502,
      body: { kind: 'graphql', errors: [{ message: 'no such book', extensions: { code: 'NOT_FOUND' } }] },
    });
    expect(await call(`${url}/books/7/loans?colour=red`)).toMatchObject({
      status: 400,
      body: { problems: [{ field: 'colour', constraint: 'whitelistValidation', in: 'query' }] },
    });
    const post = await call(`${url}/books/7/loans`, 'POST');
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, OPTIONS']);
    expect(lib.loans.readers).toBe(0);
  });

  it.each([
    // A Date is no Int, so the event can't be resolved.
    ['an event', (lib: Library) => lib.loans.publish({ seq: new Date() as never, bookId: '7', note: null })],
    ['the source', (lib: Library) => lib.loans.fail(new Error('the source broke'))],
  ])('ends with an event of the row when %s fails, and tells the host why', async (_what, breakIt) => {
    const { url, unexpected } = await start({ failed: { event: 'error', data: { code: 'BROKEN' } } });
    const { reader } = await open(`${url}/books/7/loans`);
    await lib.loans.untilReaders(1);
    breakIt(lib);
    expect(await readUntil(reader, /never/)).toBe('event: error\ndata: {"code":"BROKEN"}\n\n<end>');
    expect(lib.loans.readers).toBe(0);
    expect(unexpected).toHaveLength(1);
  });

  /** 30 MB: far more than the socket buffers of both ends hold. */
  function publishMany(note: string): void {
    for (let seq = 1; seq <= 300; seq += 1) lib.loans.publish({ seq, bookId: '7', note });
  }

  it('drops a client that does not read', async () => {
    const { port } = await start({ maxBufferedBytes: 65_536, stallMs: 500 });
    publishMany('x'.repeat(100_000));
    const socket = await rawGet(port, '/books/7/loans');
    await lib.loans.untilReaders(1);
    await lib.loans.untilReaders(0);
    socket.destroy();
  });

  it('gives a client that reads the whole backlog', async () => {
    const { url } = await start({ maxBufferedBytes: 65_536, stallMs: 20_000 });
    const note = 'x'.repeat(100_000);
    publishMany(note);
    const { reader } = await open(`${url}/books/7/loans?lastEventId=1`);
    const sent = 299 * note.length;
    for (let got = 0; got < sent; ) got += (await reader.read()).value?.length ?? Number.NaN;
    expect(lib.loans.readers).toBe(1);
    await reader.cancel();
  });

  it('is ended by close()', async () => {
    const { url, bridge } = await start();
    const { reader } = await open(`${url}/books/7/loans`);
    await lib.loans.untilReaders(1);
    await bridge.close();
    expect(lib.loans.readers).toBe(0);
    expect(await readUntil(reader, /never/)).toBe('<end>');
  });

  it('makes a context for each event when the host asks for it', async () => {
    const contexts: number[] = [];
    let count = 0;
    const table = routes(import.meta.url, [route.sse(Loans, common)]);
    running = await serve<unknown>({
      schema: lib.schema,
      tables: [table],
      eventContext: () => {
        count += 1;
        contexts.push(count);
        return { count };
      },
    });
    const { reader } = await open(`${running.url}/books/7/loans`);
    for (const seq of [1, 2]) lib.loans.publish({ seq, bookId: '7', note: null });
    await readUntil(reader, /id: 2\n/);
    expect(contexts).toEqual([1, 2]);
    await reader.cancel();
  });
});

async function rawGet(port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
}
