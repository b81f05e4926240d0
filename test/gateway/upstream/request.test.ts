import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  admin,
  engineer,
  type ProxiedGateway,
  send,
  startProxiedGateway,
  startUpstream,
  textOf,
  type Upstream,
  viewer,
} from './proxied-gateway.js';

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
