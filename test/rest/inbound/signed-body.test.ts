import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express, { type Request, type Response } from 'express';
import { pino } from 'pino';
import { createErrorHandler } from '../../../src/gateway/error-handler.js';
import { pathOf } from '../../../src/gateway/surface.js';
import { createPlatformErrors } from '../../../src/rest/envelopes/platform-errors.js';
import { signedBody } from '../../../src/rest/inbound/signed-body.js';
import { verifyProviderA, verifyProviderB, verifyWebhook } from '../../../src/rest/inbound/verify-hmac.js';

const NOW = new Date('2026-01-02T03:04:05.000Z');
const secrets: Readonly<Record<string, string>> = { known: 'a secret', empty: '' };

let server: Server;
let url: string;

beforeAll(async () => {
  const app = express();
  const errors = createPlatformErrors({ path: pathOf, now: () => NOW });
  const failures = createErrorHandler({
    log: pino({ level: 'silent' }),
    surfaces: [{ prefix: '/', errors }],
  });
  app.post(
    '/trigger',
    signedBody((body, headers) =>
      verifyWebhook({ secret: secrets[String(headers['x-webhook-id'])], body, headers }, NOW),
    ),
    (request: Request, response: Response) => void response.json({ received: request.body }),
  );
  app.post(
    '/git',
    signedBody(async (body, headers) => {
      if ('x-providerb-token' in headers) verifyProviderB({ secret: secrets['known'], headers });
      else verifyProviderA({ secret: secrets['known'], body, headers });
    }),
    (request: Request, response: Response) => void response.json({ received: request.body }),
  );
  app.use(failures.notFound, failures.errorHandler);
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const sign = (body: string | Buffer, secret = 'a secret') =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

async function post(path: string, body: string | Buffer | undefined, headers: Record<string, string>) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

const unauthorized = {
  error: 'UNAUTHORIZED',
  message: 'The signature of the request is missing or not valid',
  timestamp: NOW.toISOString(),
};

/** Two spaces and a number that JSON.parse would change: only the raw bytes have this signature. */
const body = '{"pipelineId":  "x", "n": 1.0, "name": "zażółć"}';
const known = { 'x-webhook-id': 'known' };

describe('a signed webhook', () => {
  it('is let in by the signature of its raw bytes, in either case of hexadecimal', async () => {
    const answer = await post('/trigger', body, { ...known, 'x-webhook-signature': sign(body) });
    expect(answer).toMatchObject({ status: 200, body: { received: JSON.parse(body) } });
    const upper = sign(body).replace(/[0-9a-f]{64}$/, (hex) => hex.toUpperCase());
    expect((await post('/trigger', body, { ...known, 'x-webhook-signature': upper })).status).toBe(200);
  });

  it.each([
    ['none', {}],
    ['of another secret', { 'x-webhook-signature': sign(body, 'another') }],
    ['of other bytes', { 'x-webhook-signature': sign(JSON.stringify(JSON.parse(body))) }],
    ['without its algorithm', { 'x-webhook-signature': sign(body).slice(7) }],
    ['of another algorithm', { 'x-webhook-signature': sign(body).replace('sha256', 'sha1') }],
    ['cut short', { 'x-webhook-signature': sign(body).slice(0, -1) }],
    ['with more behind it', { 'x-webhook-signature': `${sign(body)}00` }],
    ['of no registration', { 'x-webhook-id': 'unknown', 'x-webhook-signature': sign(body) }],
    ['of a registration without secret', { 'x-webhook-id': 'empty', 'x-webhook-signature': sign(body, '') }],
  ])('is 401 with a signature %s', async (_what, headers) => {
    expect(await post('/trigger', body, { ...known, ...headers })).toMatchObject({
      status: 401,
      body: unauthorized,
    });
  });

  const at = (offsetMs: number) => NOW.getTime() + offsetMs;
  it.each([
    [String(at(0) / 1_000), 200],
    [String(at(-299_000) / 1_000), 200],
    [String(at(300_000)), 200],
    [new Date(at(-300_000)).toISOString(), 200],
    [String(at(-301_000) / 1_000), 401],
    [String(at(301_000) / 1_000), 401],
    [new Date(at(-300_001)).toISOString(), 401],
    ['soon', 401],
    ['', 401],
  ])('sent at %s is %d', async (timestamp, status) => {
    const headers = { ...known, 'x-webhook-signature': sign(body), 'x-webhook-timestamp': timestamp };
    expect((await post('/trigger', body, headers)).status).toBe(status);
  });

  it('is looked into only behind a right signature', async () => {
    const broken = '{"a":';
    const signed = { ...known, 'x-webhook-signature': sign(broken) };
    expect(await post('/trigger', broken, known)).toMatchObject({ status: 401 });
    expect(await post('/trigger', broken, signed)).toMatchObject({
      status: 400,
      body: { error: 'BAD_REQUEST', details: [{ field: 'body' }] },
    });
    expect(await post('/trigger', broken, { ...signed, 'content-type': 'text/plain' })).toMatchObject({
      status: 415,
      body: { error: 'UNSUPPORTED_MEDIA_TYPE' },
    });
    const nothing = { ...known, 'x-webhook-signature': sign('') };
    expect(await post('/trigger', undefined, nothing)).toMatchObject({ status: 400 });
  });

  it('may have 1 MiB and not a byte more', async () => {
    const text = (bytes: number) => Buffer.from(JSON.stringify('x'.repeat(bytes - 2)));
    const most = text(1_048_576);
    expect((await post('/trigger', most, { ...known, 'x-webhook-signature': sign(most) })).status).toBe(200);
    const more = text(1_048_577);
    expect(await post('/trigger', more, { ...known, 'x-webhook-signature': sign(more) })).toMatchObject({
      status: 413,
      body: { error: 'PAYLOAD_TOO_LARGE' },
    });
  });

  it('is not inflated: its signature is over what was sent', async () => {
    const headers = { ...known, 'x-webhook-signature': sign(body), 'content-encoding': 'gzip' };
    expect(await post('/trigger', body, headers)).toMatchObject({ status: 415 });
  });
});

describe('a push of a Git provider', () => {
  it.each([
    [{ 'x-providera-signature-256': sign(body) }, 200],
    [{ 'x-providera-signature-256': sign(body, 'another') }, 401],
    [{ 'x-providera-signature-256': '' }, 401],
    [{ 'x-webhook-signature': sign(body) }, 401],
    [{ 'x-providerb-token': 'a secret' }, 200],
    [{ 'x-providerb-token': 'a secre' }, 401],
    [{ 'x-providerb-token': 'a secret2' }, 401],
    [{ 'x-providerb-token': '' }, 401],
    [{}, 401],
  ])('with %j is %d', async (headers, status) => {
    expect((await post('/git', body, headers as Record<string, string>)).status).toBe(status);
  });
});
