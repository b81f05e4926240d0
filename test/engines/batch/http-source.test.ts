import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { execute, query } from './engine-fixture.js';
import { ALL, from, HttpServer, json } from './http-fixture.js';

const http = new HttpServer();

describe('an http source', () => {
  it('reads one answer with its own parameters and the credentials of the connection', async () => {
    http.answer = (_, response) => json(response, { data: { items: [{ id: 1, tags: ['a'] }] } });
    const { outcome, rows } = await http.read({
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
    expect(http.asked()).toEqual(['/api/orders?since=2024-01-01&open=true']);
    expect(http.requests[0]?.headers).toMatchObject({ authorization: 'Bearer s3cret', 'x-trace': 't' });
  });

  it('keeps numbers exact', async () => {
    http.answer = (_, response) =>
      response.end('[{"big": 9223372036854775807, "amount": 12345678901234567.89, "e": 1e2, "s": "x"}]');
    const { rows } = await http.read({
      columns: { big: 'BIGINT', amount: 'DECIMAL(38,2)', e: 'DOUBLE', s: 'VARCHAR' },
    });
    expect(rows).toEqual([{ big: '9223372036854775807', amount: '12345678901234567.89', e: 100, s: 'x' }]);
  });

  it('reads whole numbers beyond 64 bits as text, within structs and lists as JSON', async () => {
    const big = '-123456789012345678901234567890';
    http.answer = (_, response) =>
      response.end(`[{"id": ${big}, "u": 18446744073709551615, "d": 12345678901234567890.5, "s": {"n": [1]}},
        {"id": 1, "u": -1, "d": 1, "s": {"n": [${big}]}}]`);
    const { outcome, rows } = await http.read({});
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
    expect(http.engine.logs.at(-1)).toEqual({
      level: 'WARN',
      message: expect.stringMatching(
        /^h\d+: id, s: whole numbers beyond 64 bits are kept as text; "columns" may say DECIMAL\.$/,
      ),
    });
  });

  it('refuses keys that differ in case alone beside them, which cannot both be named', async () => {
    http.answer = (_, response) => response.end('[{"Id": 123456789012345678901, "id": 1}]');
    await expect(http.read({})).rejects.toMatchObject({
      kind: 'SOURCE',
      message:
        'Two keys of the rows differ in case alone, and there are whole numbers beyond 64 bits: name "columns".',
    });
    http.answer = (_, response) => response.end('[{"id": 123456789012345678901, "id_1": 1}]');
    expect((await http.read({})).rows).toEqual([{ id: '123456789012345678901', id_1: '1' }]);
  });

  it('makes a column of each key, of however many and however rare', async () => {
    const wide = Object.fromEntries(Array.from({ length: 200 }, (_, key) => [`c${key}`, key]));
    http.answer = (_, response) => json(response, [wide]);
    expect((await http.read({})).outcome.columns).toHaveLength(200);
    http.answer = (_, response) =>
      json(
        response,
        Array.from({ length: 300 }, (_, id) => ({ id, [`attr_${id}`]: id })),
      );
    expect((await http.read({})).outcome.columns).toHaveLength(301);
  });

  it('waits as long as the server asks it to, within bounds', async () => {
    http.answer = (_, response) =>
      http.requests.length === 1
        ? response.writeHead(429, { 'retry-after': '0' }).end()
        : json(response, ALL);
    expect((await http.read({})).rows).toHaveLength(5);
    http.answer = (_, response) => response.writeHead(503, { 'retry-after': '3600' }).end();
    await expect(http.read({})).rejects.toMatchObject({ kind: 'CONNECTION', transient: true });
    expect(http.requests).toHaveLength(3);
    http.answer = (_, response) => response.writeHead(503, { 'retry-after': '0' }).end();
    await expect(http.read({})).rejects.toMatchObject({ message: expect.stringMatching(/answered 503\.$/) });
    expect(http.requests).toHaveLength(7);
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
    http.answer = (_url, response) => void say(response);
    await expect(http.read({})).rejects.toMatchObject({
      kind,
      transient,
      message: expect.stringMatching(message),
    });
    expect(http.requests).toHaveLength(1);
  });

  it('fails as DISK_FULL beyond the disk a run may use', async () => {
    http.answer = (_, response) => json(response, [{ a: 'x'.repeat(600_000) }]);
    const small = await http.engine.open({ spillLimitMb: 1 });
    const spec = from({ paging: { kind: 'page', parameter: 'p' } });
    await expect(execute(small, { id: 'small', inputs: [], spec })).rejects.toMatchObject({
      kind: 'DISK_FULL',
    });
    expect(http.requests).toHaveLength(2);
  });

  it('refuses an answer beyond its limit', async () => {
    const piece = Buffer.alloc(1 << 20, ' ');
    http.answer = (_, response) => {
      response.on('error', () => undefined);
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    };
    await expect(http.read({})).rejects.toMatchObject({
      kind: 'SOURCE',
      message: expect.stringContaining('more than 64 MiB'),
    });
  });

  it('reaches private addresses only when it may, by number and by name', async () => {
    for (const connection of ['public', 'named']) {
      await expect(http.read({ connection })).rejects.toMatchObject({
        kind: 'CONNECTION',
        message: expect.stringContaining('may not be reached'),
      });
    }
    await expect(http.read({ path: '../../admin' })).rejects.toMatchObject({
      message: expect.stringContaining('base URL'),
    });
    expect(http.requests).toEqual([]);
  });

  it('asks for what is beyond the watermark, and keeps nothing else', async () => {
    const rows = ['2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z', null].map((at, id) => ({ id, at }));
    http.answer = (_, response) => json(response, rows);
    const spec = from({
      incremental: { column: 'at', parameter: 'since' },
      columns: { id: 'INTEGER', at: 'TIMESTAMP' },
    });
    const all = await http.engine.execute({ id: 'all', inputs: [], spec });
    expect(all).toMatchObject({ rows: 3, watermark: '2024-01-02 00:00:00' });
    const later = await http.engine.execute(
      { id: 'later', inputs: [], spec },
      { watermark: '2024-01-01 00:00:00' },
    );
    expect(later).toMatchObject({ rows: 1, watermark: '2024-01-02 00:00:00' });
    expect(http.asked()).toEqual(['/api/orders', '/api/orders?since=2024-01-01T00%3A00%3A00Z']);
    expect(await query(`SELECT id FROM '${later.output}'`)).toEqual([{ id: 1 }]);
  });

  it('ends at once when it is cancelled', async () => {
    const controller = new AbortController();
    http.answer = () => controller.abort();
    await expect(http.engine.run('hanging', from({}), [], controller.signal)).rejects.toMatchObject({
      kind: 'CANCELLED',
    });
  });
});
