import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { HttpSourceSpec } from '../../../src/engines/task-spec.js';
import { type EngineFixture, execute, openEngine, query, readParquet } from './engine-fixture.js';

let engine: EngineFixture;
let server: Server;
let base: string;
let number = 0;
let requests: IncomingMessage[] = [];
let answer: (request: URL, response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request);
    answer(new URL(request.url ?? '', base), response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  engine = await openEngine();
  const connection = { type: 'http', baseUrl: base, headers: { Authorization: 'Bearer s3cret' } } as const;
  engine.connections.set('api', { ...connection, allowPrivate: true });
  engine.connections.set('public', { ...connection, allowPrivate: false });
  engine.connections.set('named', {
    ...connection,
    baseUrl: base.replace('http://127.0.0.1', 'https://localhost'),
    allowPrivate: false,
  });
});
afterAll(async () => {
  await engine?.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
});

const from = (spec: Partial<HttpSourceSpec>): HttpSourceSpec => ({
  kind: 'source',
  type: 'http',
  connection: 'api',
  path: '/orders',
  ...spec,
});
const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const asked = () => requests.map(({ url }) => url);
const ALL = Array.from({ length: 5 }, (_, index) => ({ id: index + 1 }));

async function read(spec: Partial<HttpSourceSpec>) {
  const id = `h${++number}`;
  const outcome = await engine.run(id, from(spec));
  return { outcome, rows: await readParquet(join(engine.options.runDirectory, `${id}.parquet`)) };
}
const idsOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ id }) => Number(id));

describe('an http source', () => {
  it('reads one answer with its own parameters and the credentials of the connection', async () => {
    answer = (_, response) => json(response, { data: { items: [{ id: 1, tags: ['a'] }] } });
    const { outcome, rows } = await read({
      path: 'orders',
      rows: '/data/items',
      query: { since: '2024-01-01', open: true },
      headers: { 'X-Trace': 't', authorization: 'overridden' },
    });
    expect(rows).toEqual([{ id: '1', tags: ['a'] }]);
    expect(outcome).toMatchObject({
      rows: 1,
      columns: [
        { name: 'id', type: 'BIGINT' },
        { name: 'tags', type: 'VARCHAR[]' },
      ],
    });
    expect(asked()).toEqual(['/api/orders?since=2024-01-01&open=true']);
    expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer s3cret', 'x-trace': 't' });
  });

  it('keeps numbers exact', async () => {
    answer = (_, response) =>
      response.end('[{"big": 9223372036854775807, "amount": 12345678901234567.89, "e": 1e2, "s": "x"}]');
    const { rows } = await read({
      columns: { big: 'BIGINT', amount: 'DECIMAL(38,2)', e: 'DOUBLE', s: 'VARCHAR' },
    });
    expect(rows).toEqual([{ big: '9223372036854775807', amount: '12345678901234567.89', e: 100, s: 'x' }]);
  });

  it('reads whole numbers beyond 64 bits as text, within structs and lists as JSON', async () => {
    const big = '-123456789012345678901234567890';
    answer = (_, response) =>
      response.end(`[{"id": ${big}, "u": 18446744073709551615, "d": 12345678901234567890.5, "s": {"n": [1]}},
        {"id": 1, "u": -1, "d": 1, "s": {"n": [${big}]}}]`);
    const { outcome, rows } = await read({});
    expect(outcome.columns).toEqual([
      { name: 'id', type: 'VARCHAR' },
      { name: 'u', type: 'DECIMAL(38,0)' },
      { name: 'd', type: 'DOUBLE' },
      { name: 's', type: 'JSON' },
    ]);
    expect(rows).toEqual([
      { id: big, u: '18446744073709551615', d: 12345678901234567000, s: '{"n":[1]}' },
      { id: '1', u: '-1', d: 1, s: `{"n":[${big}]}` },
    ]);
    expect(engine.logs.at(-1)).toEqual({
      level: 'WARN',
      message: `h${number}: id, s: whole numbers beyond 64 bits are kept as text; "columns" may say DECIMAL.`,
    });
  });

  it('refuses keys that differ in case alone beside them, which cannot both be named', async () => {
    answer = (_, response) => response.end('[{"Id": 123456789012345678901, "id": 1}]');
    await expect(read({})).rejects.toMatchObject({
      kind: 'SOURCE',
      message:
        'Two keys of the rows differ in case alone, and there are whole numbers beyond 64 bits: name "columns".',
    });
    answer = (_, response) => response.end('[{"id": 123456789012345678901, "id_1": 1}]');
    expect((await read({})).rows).toEqual([{ id: '123456789012345678901', id_1: '1' }]);
  });

  it('makes a column of each key, of however many and however rare', async () => {
    const wide = Object.fromEntries(Array.from({ length: 200 }, (_, key) => [`c${key}`, key]));
    answer = (_, response) => json(response, [wide]);
    expect((await read({})).outcome.columns).toHaveLength(200);
    answer = (_, response) =>
      json(
        response,
        Array.from({ length: 300 }, (_, id) => ({ id, [`attr_${id}`]: id })),
      );
    expect((await read({})).outcome.columns).toHaveLength(301);
  });

  it('follows pages', async () => {
    answer = (url, response) => {
      const start = (Number(url.searchParams.get('p')) - 1) * 2;
      json(response, ALL.slice(start, start + 2));
    };
    const { rows } = await read({ paging: { kind: 'page', parameter: 'p', sizeParameter: 'n', size: 2 } });
    expect(idsOf(rows)).toEqual([1, 2, 3, 4, 5]);
    expect(asked()).toEqual(['/api/orders?p=1&n=2', '/api/orders?p=2&n=2', '/api/orders?p=3&n=2']);
  });

  it('follows offsets', async () => {
    answer = (url, response) => {
      const start = Number(url.searchParams.get('from'));
      json(response, ALL.slice(start, start + 3));
    };
    const { rows } = await read({ paging: { kind: 'offset', parameter: 'from', size: 3 } });
    expect(idsOf(rows)).toEqual([1, 2, 3, 4, 5]);
    expect(asked()).toEqual(['/api/orders?from=0', '/api/orders?from=3', '/api/orders?from=5']);
  });

  it('reads all rows of a server that gives fewer at a time than it is asked for', async () => {
    answer = (url, response) => {
      const start = Number(url.searchParams.get('from'));
      json(response, ALL.slice(start, start + 2));
    };
    const { rows } = await read({
      paging: { kind: 'offset', parameter: 'from', sizeParameter: 'n', size: 500 },
    });
    expect(idsOf(rows)).toEqual([1, 2, 3, 4, 5]);
  });

  it('gives a cursor back as it was written, though a double cannot hold it', async () => {
    answer = (url, response) => {
      const isFirst = !url.searchParams.has('after');
      response.end(`{"rows": [{"id": 1}], "next": ${isFirst ? '1712345678901234567' : 'null'}}`);
    };
    const paging = { kind: 'cursor', parameter: 'after', path: '/next' } as const;
    expect((await read({ rows: '/rows', paging })).rows).toHaveLength(2);
    expect(asked()).toEqual(['/api/orders', '/api/orders?after=1712345678901234567']);
  });

  it.each([
    ['cursors', { kind: 'cursor', parameter: 'at', path: '/next' }, 'same cursor twice'],
    ['links', { kind: 'link' }, 'same link twice'],
  ] as const)('fails when %s go round in a circle', async (_, paging, message) => {
    const after: Record<string, string> = { a: 'b', b: 'c', c: 'a' };
    answer = (url, response) => {
      const next = after[url.searchParams.get('at') ?? ''] ?? 'a';
      json(response, { rows: ALL, next }, { link: `</api/orders?at=${next}>; rel=next` });
    };
    await expect(read({ rows: '/rows', paging })).rejects.toMatchObject({
      kind: 'SOURCE',
      message: expect.stringContaining(message),
    });
    expect(requests).toHaveLength(4);
  });

  it('follows cursors', async () => {
    answer = (url, response) => {
      const at = Number(url.searchParams.get('after') ?? 0);
      json(response, { rows: ALL.slice(at, at + 2), 'a/b': { next: at + 2 < 5 ? at + 2 : null } });
    };
    const { rows } = await read({
      rows: '/rows',
      paging: { kind: 'cursor', parameter: 'after', path: '/a~1b/next' },
    });
    expect(idsOf(rows)).toEqual([1, 2, 3, 4, 5]);
    answer = (_, response) => json(response, { rows: ALL, next: 'same' });
    await expect(
      read({ rows: '/rows', paging: { kind: 'cursor', parameter: 'after', path: '/next' } }),
    ).rejects.toMatchObject({ kind: 'SOURCE', message: expect.stringContaining('same cursor twice') });
  });

  it('follows links of its own origin only', async () => {
    answer = (url, response) => {
      const at = Number(url.searchParams.get('at') ?? 0);
      const next = `<https://example.org/x,y>; rel="prev", </api/orders?at=${at + 2}>; title="a, b"; rel="last next"`;
      json(response, ALL.slice(at, at + 2), at + 2 < 5 ? { link: next } : {});
    };
    expect(idsOf((await read({ paging: { kind: 'link' } })).rows)).toEqual([1, 2, 3, 4, 5]);
    answer = (_, response) => json(response, ALL, { link: '<http://127.0.0.1:1/steal>; rel=next' });
    await expect(read({ paging: { kind: 'link' } })).rejects.toMatchObject({
      kind: 'SOURCE',
      message: expect.stringContaining('another origin'),
    });
  });

  it('stops at the page limit', async () => {
    answer = (_, response) => json(response, ALL);
    await expect(read({ paging: { kind: 'page', parameter: 'p' }, maxPages: 3 })).rejects.toMatchObject({
      kind: 'SOURCE',
      message: '/orders has more than 3 pages.',
    });
    expect(requests).toHaveLength(3);
  });

  it('waits as long as the server asks it to, within bounds', async () => {
    answer = (_, response) =>
      requests.length === 1 ? response.writeHead(429, { 'retry-after': '0' }).end() : json(response, ALL);
    expect((await read({})).rows).toHaveLength(5);
    answer = (_, response) => response.writeHead(503, { 'retry-after': '3600' }).end();
    await expect(read({})).rejects.toMatchObject({ kind: 'CONNECTION', transient: true });
    expect(requests).toHaveLength(3);
    answer = (_, response) => response.writeHead(503, { 'retry-after': '0' }).end();
    await expect(read({})).rejects.toMatchObject({ message: expect.stringMatching(/answered 503\.$/) });
    expect(requests).toHaveLength(7);
  });

  it.each([
    [
      'a 404',
      (response: ServerResponse) => response.writeHead(404).end('s3cret'),
      'SOURCE',
      false,
      /answered 404\.$/,
    ],
    [
      'a 500',
      (response: ServerResponse) => response.writeHead(500).end(),
      'CONNECTION',
      true,
      /answered 500\.$/,
    ],
    [
      'a redirect',
      (response: ServerResponse) => response.writeHead(302, { location: '/x' }).end(),
      'SOURCE',
      false,
      /not followed/,
    ],
    ['no JSON', (response: ServerResponse) => response.end('<html>s3cret'), 'SOURCE', false, /no JSON\.$/],
    ['no array', (response: ServerResponse) => response.end('{}'), 'SOURCE', false, /no array/],
    ['no objects', (response: ServerResponse) => response.end('[1]'), 'SOURCE', false, /no object/],
    [
      'no rows and no columns',
      (response: ServerResponse) => response.end('[]'),
      'SOURCE',
      false,
      /columns are unknown/,
    ],
    [
      'a cut answer',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '100' }).write('[');
        setImmediate(() => response.destroy());
      },
      'CONNECTION',
      true,
      /./,
    ],
  ] as const)('fails after %s', async (_, say, kind, transient, message) => {
    answer = (_url, response) => void say(response);
    await expect(read({})).rejects.toMatchObject({
      kind,
      transient,
      message: expect.stringMatching(message),
    });
    expect(requests).toHaveLength(1);
  });

  it('fails as DISK_FULL beyond the disk a run may use', async () => {
    answer = (_, response) => json(response, [{ a: 'x'.repeat(600_000) }]);
    const small = await engine.open({ spillLimitMb: 1 });
    const spec = from({ paging: { kind: 'page', parameter: 'p' } });
    await expect(execute(small, { id: 'small', inputs: [], spec })).rejects.toMatchObject({
      kind: 'DISK_FULL',
    });
    expect(requests).toHaveLength(2);
  });

  it('refuses an answer beyond its limit', async () => {
    const piece = Buffer.alloc(1 << 20, ' ');
    answer = (_, response) => {
      response.on('error', () => undefined);
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    };
    await expect(read({})).rejects.toMatchObject({
      kind: 'SOURCE',
      message: expect.stringContaining('more than 64 MiB'),
    });
  });

  it('reaches private addresses only when it may, by number and by name', async () => {
    for (const connection of ['public', 'named']) {
      await expect(read({ connection })).rejects.toMatchObject({
        kind: 'CONNECTION',
        message: expect.stringContaining('may not be reached'),
      });
    }
    await expect(read({ path: '../../admin' })).rejects.toMatchObject({
      message: expect.stringContaining('base URL'),
    });
    expect(requests).toEqual([]);
  });

  it('asks for what is beyond the watermark, and keeps nothing else', async () => {
    const rows = ['2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z', null].map((at, id) => ({ id, at }));
    answer = (_, response) => json(response, rows);
    const spec = from({
      incremental: { column: 'at', parameter: 'since' },
      columns: { id: 'INTEGER', at: 'TIMESTAMP' },
    });
    const all = await engine.execute({ id: 'all', inputs: [], spec });
    expect(all).toMatchObject({ rows: 3, watermark: '2024-01-02 00:00:00' });
    const later = await engine.execute(
      { id: 'later', inputs: [], spec },
      { watermark: '2024-01-01 00:00:00' },
    );
    expect(later).toMatchObject({ rows: 1, watermark: '2024-01-02 00:00:00' });
    expect(asked()).toEqual(['/api/orders', '/api/orders?since=2024-01-01T00%3A00%3A00Z']);
    expect(await query(`SELECT id FROM '${later.output}'`)).toEqual([{ id: 1 }]);
  });

  it('ends at once when it is cancelled', async () => {
    const controller = new AbortController();
    answer = () => controller.abort();
    await expect(engine.run('hanging', from({}), [], controller.signal)).rejects.toMatchObject({
      kind: 'CANCELLED',
    });
  });
});
