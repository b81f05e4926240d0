import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { startTestApp, type TestApp } from '../../support/app.js';
import { clientCredential } from '../../support/credentials.js';
import { caller } from '../../support/rest.js';
import { startUpstream, type Upstream } from './proxied-gateway.js';

let copilot: Upstream;
let engine: Upstream;
let engineSockets: WebSocketServer;
let app: TestApp;

beforeAll(async () => {
  copilot = await startUpstream((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ url: request.url, headers: request.headers, answer: 'Ask jan@example.com' }),
    );
  });
  engine = await startUpstream((_request, response) => void response.end());
  engineSockets = new WebSocketServer({ server: engine.server });
  engineSockets.on('connection', (socket, request) => {
    socket.send(
      JSON.stringify({ url: request.url, user: request.headers['x-user-id'], error: 'no jan@example.com' }),
    );
    socket.close(1000);
  });
  app = await startTestApp({
    GATEWAY_UPSTREAMS: JSON.stringify({
      '/api/v1/copilot': copilot.url,
      '/api/copilot': copilot.url,
      '/api/v1/runs': engine.url,
    }),
    RATE_LIMIT_DISABLED: 'false',
    RATE_LIMIT_COPILOT_PER_MINUTE: '5',
  });
});

afterAll(async () => {
  await app.close();
  engineSockets.close();
  await copilot.close();
  await engine.close();
});

describe('the whole server with upstreams', () => {
  it('sends a verified caller on, masks the answer and serves everything else itself', async () => {
    const engineer = caller(app.url, await app.platform('demo-engineer'));
    const { status, headers, body } = await engineer('POST', '/api/v1/copilot/chat', { message: 'who?' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      url: '/api/v1/copilot/chat',
      answer: 'Ask •••',
      headers: {
        authorization: expect.stringMatching(/^Bearer eyJ/),
        'x-user-id': 'demo-engineer',
        'x-user-roles': 'ENGINEER',
        'x-user-workspace': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'x-request-id': headers.get('x-request-id'),
      },
    });
    expect(headers.get('x-ratelimit-limit')).toBe('5');
    expect((await engineer('GET', '/api/v1/pipelines')).status).toBe(200);
    expect((await engineer('GET', '/api/copilot/ready')).body).toMatchObject({ url: '/api/copilot/ready' });
  });

  it('lets nobody through without a token, with a role too low, or too often', async () => {
    expect((await caller(app.url)('GET', '/api/v1/copilot/x')).status).toBe(401);
    const viewer = caller(app.url, await clientCredential(app.url, 'demo-viewer'));
    expect((await viewer('POST', '/api/v1/copilot/x', {})).body).toMatchObject({ error: 'FORBIDDEN' });
    const statuses: number[] = [];
    for (let time = 0; time < 6; time += 1) statuses.push((await viewer('GET', '/api/v1/copilot/y')).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses[0]).toBe(200);
  });

  it('hands the run stream to the upstream that has it', async () => {
    const url = `${app.url.replace('http', 'ws')}/api/v1/runs/7/stream?after=2`;
    const socket = new WebSocket(url, { headers: await app.platform('demo-viewer') });
    const [message] = await once(socket, 'message');
    expect(JSON.parse(String(message))).toEqual({
      url: '/api/v1/runs/7/stream?after=2',
      user: 'demo-viewer',
      error: 'no •••',
    });
    const [code] = await once(socket, 'close');
    expect(code).toBe(1000);
  });
});
