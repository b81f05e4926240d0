import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  admin,
  type ProxiedGateway,
  send,
  startProxiedGateway,
  startUpstream,
  type Upstream,
  viewer,
} from './proxied-gateway.js';

const json = { 'content-type': 'application/json' };

type Handler = Parameters<typeof startUpstream>[0];

let upstream: Upstream;
let gateway: ProxiedGateway;
/** What the upstream does with the next requests. */
let answer: Handler;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => answer(request, response));
  gateway = await startProxiedGateway({ '/api/v1/copilot': upstream.url });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

describe('an answer of an upstream', () => {
  const get = (headers: Record<string, string> = viewer, method = 'GET') =>
    send(`${gateway.url}/api/v1/copilot/x`, { method, headers });

  it('comes with its status and headers, without those of the connection and without cookies', async () => {
    answer = (_request, response) => {
      response.writeHead(418, {
        'x-copilot-confidence': '0.7',
        'set-cookie': 'itsm_auth_token=evil',
        'content-security-policy': 'default-src *',
        'x-request-id': 'theirs',
        connection: 'close, x-hop',
        'x-hop': '1',
        'content-type': 'text/plain',
        etag: '"1"',
        vary: 'Accept',
      });
      response.end('jan@example.com');
    };
    const { status, headers, text } = await get();
    expect(status).toBe(418);
    expect(text).toBe('jan@example.com');
    expect(headers).toMatchObject({ 'x-copilot-confidence': '0.7', etag: '"1"' });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['x-request-id']).not.toBe('theirs');
    expect(headers['set-cookie']).toBeUndefined();
    expect(headers['x-hop']).toBeUndefined();
  });

  it.each([404, 409, 500, 502, 503])("of %d is its own and not the gateway's", async (status) => {
    answer = (_request, response) => {
      response.writeHead(status, json).end(`{"error":"MINE","message":"jan@example.com is known"}`);
    };
    expect(await get()).toMatchObject({ status, text: '{"error":"MINE","message":"••• is known"}' });
  });

  it.each([
    ['application/json', undefined],
    ['application/problem+json; charset=utf-8', undefined],
    ['application/x-ndjson', undefined],
    ['application/json', 'gzip'],
  ])('is masked when it is %s, encoded as %s, and keeps every other character', async (type, encoding) => {
    const body =
      '{"mail": "jan@example.com", "n": 44051401359.0, "big": 12345678901234567890}\n{"s":"44051401359"}';
    answer = (_request, response) => {
      response.setHeader('content-type', type);
      if (encoding) response.setHeader('content-encoding', encoding);
      response.setHeader('digest', 'sha-256=x');
      response.end(encoding ? gzipSync(body) : body);
    };
    const { text, headers } = await get(admin);
    expect(text).toBe('{"mail": "•••", "n": 44051401359.0, "big": 12345678901234567890}\n{"s":"•••"}');
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['digest']).toBeUndefined();
  });

  it('of 20 MB of JSON is masked as it passes', async () => {
    const rows = 200_000;
    answer = async (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.write('[');
      for (let row = 0; row < rows; row += 1) {
        const text = `${row === 0 ? '' : ','}{"row":${row},"mail":"jan${row}@example.com","note":"${'x'.repeat(60)}"}`;
        if (!response.write(text)) await once(response, 'drain');
      }
      response.end(']');
    };
    const parsed = JSON.parse((await get()).text) as { row: number; mail: string }[];
    expect(parsed.length).toBe(rows);
    expect(parsed.every(({ row, mail }, index) => row === index && mail === '•••')).toBe(true);
  });

  it('to HEAD, 204 and 304 has no body', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { ...json, 'content-length': '15' }).end('{"not":"sent"}!');
    };
    const head = await get(viewer, 'HEAD');
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers['content-type']).toBe('application/json');
    for (const status of [204, 304]) {
      answer = (_request, response) => void response.writeHead(status, { ...json, etag: '"2"' }).end();
      expect(await get()).toMatchObject({ status, text: '', headers: { etag: '"2"' } });
    }
  });
});

describe('server-sent events', () => {
  it('arrive one by one, masked, and end at the upstream when the client leaves', async () => {
    const left = Promise.withResolvers<void>();
    const next = Promise.withResolvers<void>();
    answer = async (request, response) => {
      request.once('close', () => left.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      await next.promise;
      response.write('id: 1\nevent: alert\ndata: {"mail":"jan@example.com"}\n\n');
    };
    const request = sendRequest(`${gateway.url}/api/v1/copilot/stream`, {
      headers: { ...viewer, 'accept-encoding': 'gzip, br', 'last-event-id': '7' },
    });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.headers['content-encoding']).toBeUndefined();
    next.resolve();
    const [chunk] = await once(response, 'data');
    expect(String(chunk)).toBe('id: 1\nevent: alert\ndata: {"mail":"•••"}\n\n');
    request.destroy();
    await left.promise;
  });
});
