import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ProxiedGateway,
  refusingUrl,
  send,
  startProxiedGateway,
  startTcp,
  startUpstream,
  textOf,
  type Upstream,
} from './proxied-gateway.js';

const viewer = { authorization: 'Bearer viewer' };
const engineer = { authorization: 'Bearer engineer' };
const admin = { authorization: 'Bearer admin' };
const json = { 'content-type': 'application/json' };

type Handler = Parameters<typeof startUpstream>[0];

let upstream: Upstream;
let gateway: ProxiedGateway;
/** What the upstream does with the next requests. */
let answer: Handler;

const echo: Handler = async (request, response) => {
  const body = await textOf(request);
  response.setHeader('content-type', 'application/octet-stream');
  response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
};

beforeAll(async () => {
  upstream = await startUpstream((request, response) => answer(request, response));
  gateway = await startProxiedGateway({
    '/api/v1/copilot': upstream.url,
    '/api/v1/runs': `${upstream.url}/engine/`,
    '/api/v1/mcp': upstream.url,
    '/api/v1/orchestrator': upstream.url,
    '/api/v1/git': upstream.url,
  });
});

afterEach(() => {
  gateway.counted.length = 0;
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

describe('a request to an upstream', () => {
  it('arrives with its method, path, query and body, and with who sent it', async () => {
    answer = echo;
    const id = '01a1fb3c-6ba4-7748-a964-b27f88c25ee9';
    const { status, text, headers } = await send(`${gateway.url}/api/v1/copilot/chat?q=%20a&q=b`, {
      method: 'POST',
      headers: { ...engineer, ...json, 'x-request-id': id, accept: 'text/x', 'x-custom': 'kept' },
      body: '{"message":"hello"}',
    });
    expect(status).toBe(200);
    expect(headers['x-request-id']).toBe(id);
    const seen = JSON.parse(text);
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/api/v1/copilot/chat?q=%20a&q=b',
      body: '{"message":"hello"}',
      headers: {
        host: upstream.url.slice('http://'.length),
        authorization: 'Bearer engineer',
        accept: 'text/x',
        'content-type': 'application/json',
        'content-length': '19',
        'x-custom': 'kept',
        'x-request-id': id,
        'x-user-id': 'sub-za%C5%BC%C3%B3%C5%82%C4%87',
        'x-user-roles': 'ENGINEER,VIEWER',
        'x-user-workspace': '01a1fb3c-6ba4-7748-a964-b27f88c25ee9',
        'x-user-email': 'jan@example.com',
        'x-forwarded-for': '192.0.2.7',
        'x-forwarded-host': gateway.url.slice('http://'.length),
        'x-forwarded-proto': 'http',
      },
    });
  });

  it("carries neither cookies, nor what only the gateway may say, nor what was meant for the gateway's own connection", async () => {
    answer = echo;
    const { text } = await send(`${gateway.url}/api/v1/copilot/x`, {
      headers: {
        ...viewer,
        cookie: 'itsm_auth_token=secret',
        'x-api-key': 'tnt_secret',
        'x-linked-authorization': 'Bearer itsm',
        'X-User-Id': 'root',
        X_User_Roles: 'ADMIN',
        'x-user-anything': 'x',
        'x-forwarded-for': '10.0.0.1',
        forwarded: 'for=10.0.0.1',
        'x-real-ip': '10.0.0.1',
        te: 'trailers',
        'keep-alive': 'timeout=9',
        'proxy-authorization': 'Basic x',
        connection: 'close, X-Hop',
        'x-hop': 'dropped',
        range: 'bytes=0-1',
        'accept-encoding': 'gzip',
      },
    });
    const { headers } = JSON.parse(text);
    expect(headers).toMatchObject({
      'x-user-id': 'sub-za%C5%BC%C3%B3%C5%82%C4%87',
      'x-user-roles': 'VIEWER,VIEWER',
    });
    expect(Object.keys(headers).toSorted()).toEqual([
      'accept-encoding',
      'authorization',
      'connection',
      'host',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-request-id',
      'x-user-email',
      'x-user-id',
      'x-user-roles',
      'x-user-workspace',
    ]);
    expect(headers).toMatchObject({
      'accept-encoding': 'identity',
      connection: 'keep-alive',
      'x-forwarded-for': '192.0.2.7',
    });
  });

  it('goes below the path of the upstream URL, and is counted under its template', async () => {
    answer = echo;
    const { text } = await send(`${gateway.url}/api/v1/runs/7?after=1`, { headers: viewer });
    expect(JSON.parse(text).url).toBe('/engine/api/v1/runs/7?after=1');
    await send(`${gateway.url}/api/v1/runs/7/logs`, { headers: viewer });
    await send(`${gateway.url}/api/v1/copilot/suggest`, { headers: viewer });
    expect(gateway.counted).toEqual(['/api/v1/runs/:runId', '/api/v1/runs/**', '/api/v1/copilot/suggest']);
    const logged = gateway.lines.filter(({ msg }) => msg === 'request').map(({ route }) => route);
    expect(logged.slice(-3)).toEqual(gateway.counted);
  });

  it.each([
    ['GET', '/api/v1/copilot/x', {}, 401],
    ['GET', '/api/v1/copilot/x', { authorization: 'Bearer nobody' }, 401],
    ['GET', '/api/v1/copilot/x', viewer, 200],
    ['HEAD', '/api/v1/copilot/x', viewer, 200],
    ['POST', '/api/v1/copilot/x', viewer, 403],
    ['PUT', '/api/v1/copilot/x', viewer, 403],
    ['PATCH', '/api/v1/copilot/x', engineer, 200],
    ['DELETE', '/api/v1/copilot/x', engineer, 403],
    ['DELETE', '/api/v1/copilot/x', admin, 200],
    ['TRACE', '/api/v1/copilot/x', admin, 405],
    ['POST', '/api/v1/mcp', viewer, 200],
    ['POST', '/api/v1/mcp', {}, 401],
    ['GET', '/api/v1/copilotx', admin, 404],
    ['GET', '/api/v1/copilot/../admin', admin, 400],
    ['GET', '/api/v1/copilot/%2e%2E/admin', admin, 400],
    ['GET', '/api/v1/copilot/x%2f..%2fadmin', admin, 400],
    ['GET', '/api/v1/copilot/..', admin, 400],
    ['GET', '/api/v1/copilot/..a', admin, 200],
    ['POST', '/api/v1/orchestrator/trigger', { 'x-webhook-signature': 'sha256=x', 'x-webhook-id': '1' }, 200],
    ['POST', '/api/v1/orchestrator/trigger', { 'x-webhook-signature': 'sha256=x' }, 401],
    ['POST', '/api/v1/orchestrator/trigger', engineer, 401],
    [
      'POST',
      '/api/v1/orchestrator/trigger/',
      { 'x-webhook-signature': 'sha256=x', 'x-webhook-id': '1' },
      401,
    ],
    ['POST', '/api/v1/git/webhooks', { 'x-providera-signature-256': 'sha256=x' }, 200],
    ['POST', '/api/v1/git/webhooks', { 'x-providerb-token': 'x' }, 200],
    ['GET', '/api/v1/git/webhooks', { 'x-providerb-token': 'x' }, 401],
  ])('%s %s with %j is %d', async (method, path, headers, status) => {
    let arrived = 0;
    answer = (request, response) => {
      arrived += 1;
      echo(request, response);
    };
    const { host, port } = new URL(gateway.url);
    // The URL class would take the dot segments out.
    const request = sendRequest({ host: host.split(':')[0], port, path, method, headers });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const text = await textOf(response);
    expect(response.statusCode).toBe(status);
    expect(arrived).toBe(status === 200 ? 1 : 0);
    if (status !== 200)
      expect(JSON.parse(text)).toMatchObject({ error: expect.any(String), message: expect.any(String) });
    if (status === 405) expect(response.headers.allow).toBe('GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE');
  });

  it('has nobody in it when its sender signs, whatever token it carries', async () => {
    answer = echo;
    const { text } = await send(`${gateway.url}/api/v1/git/webhooks`, {
      method: 'POST',
      headers: { 'x-providerb-token': 'x', ...admin },
      body: '{"a":  1}',
    });
    const seen = JSON.parse(text);
    expect(seen.body).toBe('{"a":  1}');
    expect(seen.headers).toMatchObject({ 'x-providerb-token': 'x' });
    expect(Object.keys(seen.headers).filter((name) => /^x-user-|^authorization/.test(name))).toEqual([]);
  });

  it('is streamed: the upstream reads before the client has finished', async () => {
    const reading = Promise.withResolvers<void>();
    answer = async (request, response) => {
      const hash = createHash('sha256');
      for await (const chunk of request) {
        reading.resolve();
        hash.update(chunk as Buffer);
      }
      response.end(hash.digest('hex'));
    };
    const request = sendRequest(`${gateway.url}/api/v1/copilot/upload`, {
      method: 'POST',
      headers: { ...engineer, 'content-type': 'application/octet-stream' },
    });
    const chunk = Buffer.alloc(1_048_576, 'x');
    const hash = createHash('sha256').update(chunk);
    request.write(chunk);
    await reading.promise;
    for (let part = 0; part < 15; part += 1) {
      hash.update(chunk);
      request.write(chunk);
    }
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(await textOf(response)).toBe(hash.digest('hex'));
  });

  it.each([
    ['{"text":"a •••"}'],
    ['{"text":"a \\u2022\\u2022\\u2022"}'],
    [JSON.stringify({ text: `${'x'.repeat(200_000)}•••` })],
  ])('is 400 when it would write the mask, and never complete at the upstream', async (body) => {
    let complete = 0;
    answer = async (request, response) => {
      await textOf(request).then(
        () => {
          complete += 1;
        },
        () => undefined,
      );
      response.end();
    };
    const refused = await send(`${gateway.url}/api/v1/copilot/x`, {
      method: 'POST',
      headers: { ...engineer, ...json },
      body,
    });
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text)).toMatchObject({ error: 'BAD_REQUEST', details: [{ field: 'body' }] });
    expect(complete).toBe(0);
    const text = { ...engineer, 'content-type': 'text/plain' };
    expect(
      (await send(`${gateway.url}/api/v1/copilot/x`, { method: 'POST', headers: text, body })).status,
    ).toBe(200);
    expect(complete).toBe(1);
  });
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

describe('an upstream that fails', () => {
  async function ask(url: string, timeouts = {}, path = '/api/v1/copilot/x') {
    const own = await startProxiedGateway({ '/api/v1/copilot': url }, timeouts);
    try {
      const { status, headers, text } = await send(`${own.url}${path}`, { headers: viewer });
      return { status, headers, body: JSON.parse(text) };
    } finally {
      await own.close();
    }
  }
  const badGateway = {
    status: 502,
    body: {
      error: 'BAD_GATEWAY',
      service: 'copilot',
      message: 'copilot gave no valid answer',
      timestamp: expect.any(String),
    },
  };

  it('by refusing is 503 with its name', async () => {
    const refused = await ask(await refusingUrl());
    expect(refused).toMatchObject({
      status: 503,
      body: {
        error: 'SERVICE_UNAVAILABLE',
        service: 'copilot',
        message: 'copilot is unavailable',
        timestamp: expect.any(String),
      },
    });
    expect(refused.headers['retry-after']).toBe('5');
  });

  it('by having no address is 503', async () => {
    expect(await ask('http://nowhere.invalid')).toMatchObject({ status: 503, body: { service: 'copilot' } });
  });

  it('by never answering is 504', async () => {
    const silent = await startTcp(() => undefined);
    expect(await ask(silent.url, { firstByte: 200 })).toMatchObject({
      status: 504,
      body: { error: 'GATEWAY_TIMEOUT', service: 'copilot', message: 'copilot did not answer in time' },
    });
    await silent.close();
  });

  it.each([
    ['resetting the connection', (end: (how: string) => void) => end('reset')],
    ['closing the connection', (end: (how: string) => void) => end('')],
    ['speaking something else', (end: (how: string) => void) => end('SSH-2.0-OpenSSH_9.6\r\n')],
    ['a broken head', (end: (how: string) => void) => end('HTTP/1.1 200 OK\r\nbad header\r\n\r\n')],
    [
      'a status that is none',
      (end: (how: string) => void) => end('HTTP/1.1 700 Odd\r\ncontent-length: 0\r\n\r\n'),
    ],
    [
      'two lengths',
      (end: (how: string) => void) =>
        end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    ],
    [
      'an encoding that it is not',
      (end: (how: string) => void) =>
        end(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}',
        ),
    ],
    [
      'an encoding that nobody knows',
      (end: (how: string) => void) =>
        end(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: rot13\r\ncontent-length: 2\r\n\r\n{}',
        ),
    ],
    [
      'ending before the first byte of the body',
      (end: (how: string) => void) =>
        end(
          'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: 9\r\n\r\n',
        ),
    ],
  ])('by %s is 502', async (_what, how) => {
    const server = await startTcp((socket) =>
      socket.once('data', () =>
        how((text) => {
          if (text === 'reset') socket.resetAndDestroy();
          else socket.end(text);
        }),
      ),
    );
    const failed = await ask(server.url);
    expect(failed).toMatchObject(badGateway);
    expect(failed.headers['content-encoding']).toBeUndefined();
    expect(failed.headers['content-type']).toBe('application/json; charset=utf-8');
    await server.close();
  });

  it('in the middle of an answer leaves that answer incomplete', async () => {
    answer = (_request, response) => {
      response.writeHead(200, json);
      response.write('{"a":1,', () => response.destroy());
    };
    await expect(send(`${gateway.url}/api/v1/copilot/x`, { headers: viewer })).rejects.toThrow('aborted');
  });

  it('by falling silent in the middle of an answer is cut off', async () => {
    const server = await startTcp((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n'),
      ),
    );
    const own = await startProxiedGateway({ '/api/v1/copilot': server.url }, { idle: 300 });
    await expect(send(`${own.url}/api/v1/copilot/x`, { headers: viewer })).rejects.toThrow('aborted');
    await own.close();
    await server.close();
  });

  it('early in a large upload is still answered', async () => {
    const server = await startTcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const own = await startProxiedGateway({ '/api/v1/copilot': server.url });
    const body = Buffer.alloc(8_388_608, 'x');
    const failed = await send(`${own.url}/api/v1/copilot/x`, { method: 'POST', headers: engineer, body });
    expect(failed.status).toBe(502);
    await own.close();
    await server.close();
  });
});

describe('closing', () => {
  it('ends streams at once', async () => {
    const server = await startTcp((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n'),
      ),
    );
    const own = await startProxiedGateway({ '/api/v1/copilot': server.url });
    const request = sendRequest(`${own.url}/api/v1/copilot/x`, { headers: viewer });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => undefined).resume();
    const closed = new Promise((resolve) => response.once('close', resolve));
    await own.close();
    await closed;
    expect(response.complete).toBe(false);
    await server.close();
  });
});
