import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { newId } from '../../src/entities/ids.js';
import type { LifeStage } from '../../src/gateway/health.js';
import { recordOf, requestIdOf } from '../../src/gateway/request-record.js';
import { eventually } from '../support/eventually.js';
import { NOW, startGateway, type TestGateway, type TestGatewayOptions } from './gateway-server.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

async function start(options?: TestGatewayOptions): Promise<string> {
  gateway = await startGateway(options);
  return gateway.url;
}

const REQ = /^req_[0-9a-hjkmnp-tv-z]{26}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('the request id', () => {
  it.each([
    { path: '/v1/items/itm_1', form: REQ, foreign: '0190f5fe-7c00-7a00-8000-000000000000' },
    { path: '/v1', form: REQ, foreign: 'req_short' },
    { path: '/api/v1/items/itm_1', form: UUID, foreign: newId('req') },
    { path: '/v10/items', form: UUID, foreign: 'x'.repeat(500) },
    { path: '/health', form: UUID, foreign: '<script>' },
  ])('of $path has its form, and an id of another form is replaced', async ({ path, form, foreign }) => {
    const url = await start();
    const fresh = (await fetch(url + path)).headers.get('x-request-id');
    expect(fresh).toMatch(form);
    const replaced = await fetch(url + path, { headers: { 'x-request-id': foreign } });
    expect(replaced.headers.get('x-request-id')).toMatch(form);
    expect(replaced.headers.get('x-request-id')).not.toBe(fresh);
  });

  it('is kept when it is valid, and known to whoever serves the request', async () => {
    const url = await start({
      mount: (app) =>
        app.get('/echo', (request, response) => void response.json({ id: requestIdOf(request) })),
    });
    const id = 'B5C1E3A0-7C00-4A00-8000-0000000000AA';
    const response = await fetch(`${url}/echo`, { headers: { 'x-request-id': id } });
    expect([response.headers.get('x-request-id'), await response.json()]).toStrictEqual([id, { id }]);
    const mine = newId('req');
    const itsm = await fetch(`${url}/v1/nothing`, { headers: { 'x-request-id': mine } });
    expect(await itsm.json()).toMatchObject({ error: { requestId: mine } });
  });
});

describe('what is outside both prefixes', () => {
  it.each(['/', '/nothing', '/v10/items', '/apiary'])('%s is a platform 404', async (path) => {
    const url = await start();
    const response = await fetch(url + path);
    expect(response.status).toBe(404);
    expect(await response.json()).toStrictEqual({
      error: 'NOT_FOUND',
      message: `GET ${path} does not exist`,
      timestamp: NOW.toISOString(),
    });
  });

  it('has its errors rendered: body parsers, thrown errors, refused paths', async () => {
    const url = await start({
      mount(app) {
        app.post('/json', express.json({ limit: 100 }), (_request, response) => void response.end());
        app.get('/throws', () => {
          throw new Error('secret');
        });
        app.get('/with/:id', (_request, response) => void response.end());
      },
    });
    const send = (body: string, headers = {}) =>
      fetch(`${url}/json`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      });
    const timestamp = NOW.toISOString();
    expect(await (await send('{')).json()).toStrictEqual({
      error: 'BAD_REQUEST',
      message: 'The body is not valid JSON',
      timestamp,
    });
    const large = await send(JSON.stringify('x'.repeat(200)));
    expect([large.status, await large.json()]).toStrictEqual([
      413,
      { error: 'PAYLOAD_TOO_LARGE', message: 'The body is too large', timestamp },
    ]);
    const encoded = await send('{}', { 'content-encoding': 'zip' });
    expect([encoded.status, await encoded.json()]).toStrictEqual([
      415,
      { error: 'UNSUPPORTED_MEDIA_TYPE', message: 'The content encoding is not supported', timestamp },
    ]);
    const thrown = await fetch(`${url}/throws`);
    expect([thrown.status, await thrown.json()]).toStrictEqual([
      500,
      { error: 'INTERNAL_ERROR', message: 'An unexpected error occurred', timestamp },
    ]);
    expect(gateway.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        requestId: thrown.headers.get('x-request-id'),
        err: expect.objectContaining({ message: 'secret' }),
      }),
    );
    expect((await fetch(`${url}/with/%zz`)).status).toBe(400);
  });

  it('is cut off when the answer had begun, so that half of it is not taken for the whole', async () => {
    const url = await start({
      mount: (app) =>
        app.get('/half', (_request, response) => {
          response.setHeader('content-length', '100');
          response.write('half');
          throw new Error('too late');
        }),
    });
    await expect(fetch(`${url}/half`).then((response) => response.text())).rejects.toThrow();
  });
});

describe('security headers', () => {
  it('are on every answer, errors included, and say nothing about the server', async () => {
    const url = await start();
    for (const path of ['/v1/items/itm_1', '/v1/nothing', '/health', '/nothing']) {
      const { headers } = await fetch(url + path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=31536000; includeSubDomains',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });
});

describe('GET /health', () => {
  it('is UP once ready and 503 before and while draining', async () => {
    let stage: LifeStage = 'starting';
    const url = await start({ stage: () => stage });
    const ask = async () => {
      const response = await fetch(`${url}/health`);
      return [response.status, await response.json()];
    };
    const down = {
      error: 'SERVICE_UNAVAILABLE',
      message: 'gateway is unavailable',
      service: 'gateway',
      timestamp: NOW.toISOString(),
    };
    expect(await ask()).toStrictEqual([503, down]);
    stage = 'ready';
    expect(await ask()).toStrictEqual([200, { status: 'UP', gateway: 'opsgraph' }]);
    stage = 'draining';
    expect(await ask()).toStrictEqual([503, down]);
  });
});

describe('the access log', () => {
  it('has one line per request, with the template and the ids, without the path and the query', async () => {
    const url = await start({
      mount: (app) =>
        app.get('/known/:id', (request, response) => {
          Object.assign(recordOf(request), {
            route: '/known/:id',
            callerId: 'usr_1',
            organizationId: 'org_1',
          });
          response.end('ok');
        }),
    });
    const answer = await fetch(`${url}/known/itm_secret?code=hidden`);
    await fetch(`${url}/v1/items/itm_7?size=3`, { headers: { authorization: 'Bearer abcdefghijk' } });
    await fetch(`${url}/wp-login.php?x=1`);
    await fetch(`${url}/health`);
    expect(gateway.lines.filter(({ level }) => level === 'info')).toStrictEqual([
      line({
        requestId: answer.headers.get('x-request-id'),
        route: '/known/:id',
        status: 200,
        callerId: 'usr_1',
        organizationId: 'org_1',
      }),
      line({ route: '/v1/items/:id', status: 200 }),
      line({ route: 'unmatched', status: 404 }),
    ]);
    expect(JSON.stringify(gateway.lines)).not.toMatch(/itm_|hidden|abcdefghijk|wp-login/);
  });

  function line(fields: Record<string, unknown>): unknown {
    return {
      level: 'info',
      time: expect.any(String),
      pid: process.pid,
      requestId: expect.any(String),
      method: 'GET',
      ms: expect.any(Number),
      msg: 'request',
      ...fields,
    };
  }

  it('says when the client left before the answer', async () => {
    const arrived = Promise.withResolvers<void>();
    const url = await start({ mount: (app) => app.get('/slow', () => arrived.resolve()) });
    const abort = new AbortController();
    const asked = fetch(`${url}/slow`, { signal: abort.signal });
    await arrived.promise;
    abort.abort();
    await expect(asked).rejects.toThrow();
    await eventually(() => gateway.lines.length > 0);
    expect(gateway.lines[0]).toMatchObject({ aborted: true });
  });
});

describe('GET /metrics', () => {
  it('counts by method, template and status, whatever paths and methods strangers try', async () => {
    const url = await start();
    await fetch(`${url}/v1/items/itm_1`);
    await fetch(`${url}/v1/items/itm_2`);
    for (let i = 0; i < 20; i++) await fetch(`${url}/v1/guess-${i}`);
    await fetch(`${url}/guess`, { method: 'PROPFIND' });
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    const counts = text
      .split('\n')
      .filter((row) => row.startsWith('opsgraph_http_request_duration_seconds_count'));
    expect(counts).toStrictEqual([
      'opsgraph_http_request_duration_seconds_count{method="GET",route="/v1/items/:id",status="200"} 2',
      'opsgraph_http_request_duration_seconds_count{method="GET",route="unmatched",status="404"} 20',
      'opsgraph_http_request_duration_seconds_count{method="other",route="unmatched",status="404"} 1',
    ]);
    expect(text).toContain('opsgraph_http_requests_in_flight 1\n');
    expect(text).toContain('opsgraph_nodejs_eventloop_lag_seconds ');
    expect(text).toContain('opsgraph_database_pool_connections{state="waiting"} 3\n');
  });
});
