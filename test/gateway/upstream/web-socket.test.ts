import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import {
  type ProxiedGateway,
  refusingUrl,
  startProxiedGateway,
  startTcp,
  startUpstream,
  textOf,
  type Upstream,
} from './proxied-gateway.js';

const viewer = { authorization: 'Bearer viewer' };

let upstream: Upstream;
let gateway: ProxiedGateway;
let sockets: WebSocketServer;
/** What the upstream does with the next connection. */
let serve: (socket: WebSocket, request: IncomingMessage) => void;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    response.writeHead(409, { 'content-type': 'application/json', 'x-why': 'over' });
    response.end('{"error":"CONFLICT","message":"the run of jan@example.com is over"}');
  });
  sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has('v2') ? 'v2' : false),
  });
  upstream.server.on('upgrade', (request, socket, head) => {
    if (request.url?.includes('refuse')) {
      const body = '{"error":"MINE","message":"jan@example.com may not"}';
      socket.end(
        `HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nX-Why: mine\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => serve(client, request));
  });
  gateway = await startProxiedGateway({ '/api/v1/runs': upstream.url });
});

afterEach(() => {
  for (const client of sockets.clients) client.terminate();
});

afterAll(async () => {
  await gateway.close();
  sockets.close();
  await upstream.close();
});

const address = (url: string, path = '/api/v1/runs/7/stream') => url.replace('http', 'ws') + path;

interface Opened {
  socket: WebSocket;
  messages: (string | Buffer)[];
  closed: Promise<{ code: number; reason: string }>;
  seen(count: number): Promise<void>;
}

async function open(
  options: { url?: string; path?: string; protocols?: string[]; headers?: Record<string, string> } = {},
): Promise<Opened> {
  const { url = gateway.url, path, protocols = [], headers = viewer } = options;
  const socket = new WebSocket(address(url, path), protocols, { headers });
  const messages: (string | Buffer)[] = [];
  socket.on('message', (data, binary) => {
    messages.push(binary ? (data as Buffer) : String(data));
    socket.emit('seen');
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
  );
  await once(socket, 'open');
  return {
    socket,
    messages,
    closed,
    async seen(count) {
      while (messages.length < count) await once(socket, 'seen');
    },
  };
}

/** The HTTP answer a connection attempt got instead. */
async function refusedBy(
  url: string,
  options: { path?: string; protocols?: string[]; headers?: Record<string, string> } = {},
) {
  const { path, protocols = [], headers = viewer } = options;
  const socket = new WebSocket(address(url, path), protocols, { headers });
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(await textOf(response)) };
}

describe('a WebSocket to an upstream', () => {
  it('carries text and bytes both ways, masks what the upstream says in text, and nothing the client says', async () => {
    const heard: string[] = [];
    serve = (socket) => {
      socket.send('{"seq": 1, "mail": "jan@example.com", "n": 44051401359}');
      socket.send('call +48601234567');
      socket.send(Buffer.from('jan@example.com'));
      socket.on('message', (data, binary) => {
        heard.push(`${binary} ${String(data)}`);
        socket.send(`heard ${heard.length}`);
      });
    };
    const client = await open();
    client.socket.send('jan@example.com');
    client.socket.send(Buffer.from([1]));
    await client.seen(5);
    expect(client.messages).toEqual([
      '{"seq": 1, "mail": "•••", "n": 44051401359}',
      'call •••',
      Buffer.from('jan@example.com'),
      'heard 1',
      'heard 2',
    ]);
    expect(heard).toEqual(['false jan@example.com', 'true \u0001']);
    client.socket.close();
    await client.closed;
  });

  it('says who the caller is, and takes the token from the pair of subprotocols', async () => {
    const opened = Promise.withResolvers<IncomingMessage>();
    serve = (_socket, request) => opened.resolve(request);
    const client = await open({
      path: '/api/v1/runs/7/stream?after=3',
      protocols: ['bearer', 'engineer'],
      headers: { cookie: 'a=b', 'x-user-id': 'root' },
    });
    expect(client.socket.protocol).toBe('bearer');
    const { url, headers } = await opened.promise;
    expect(url).toBe('/api/v1/runs/7/stream?after=3');
    expect(headers).toMatchObject({ authorization: 'Bearer engineer', 'x-user-roles': 'ENGINEER,VIEWER' });
    expect(headers['x-user-id']).not.toBe('root');
    expect(headers['cookie']).toBeUndefined();
    expect(headers['sec-websocket-protocol']).toBeUndefined();
    client.socket.terminate();
  });

  it('speaks the subprotocol the upstream chose', async () => {
    serve = () => undefined;
    const client = await open({ protocols: ['v1', 'v2'] });
    expect(client.socket.protocol).toBe('v2');
    client.socket.terminate();
  });

  it('passes 5,000 messages on in order', async () => {
    serve = (socket) => {
      for (let seq = 0; seq < 5_000; seq += 1) socket.send(JSON.stringify({ seq, text: 'x'.repeat(1_000) }));
      socket.close(1000, 'COMPLETED');
    };
    const client = await open();
    expect(await client.closed).toEqual({ code: 1000, reason: 'COMPLETED' });
    expect(client.messages.map((message) => JSON.parse(String(message)).seq)).toEqual(
      Array.from({ length: 5_000 }, (_, seq) => seq),
    );
  });

  it('ends with the code of the side that ends it', async () => {
    serve = (socket) => socket.close(4001, 'theirs');
    expect(await (await open()).closed).toEqual({ code: 4001, reason: 'theirs' });

    const ended = Promise.withResolvers<number>();
    serve = (socket) => socket.once('close', (code) => ended.resolve(code));
    const client = await open();
    client.socket.close(4002, 'mine');
    expect(await ended.promise).toBe(4002);
  });

  it('ends with 1014 when the upstream dies, and at the upstream when the client does', async () => {
    serve = (socket) => socket.terminate();
    expect((await (await open()).closed).code).toBe(1014);

    const ended = Promise.withResolvers<number>();
    serve = (socket) => socket.once('close', (code) => ended.resolve(code));
    const client = await open();
    client.socket.terminate();
    expect(await ended.promise).toBe(1001);
  });

  it('is cut off when a side shows no sign of life', async () => {
    const own = await startProxiedGateway({ '/api/v1/runs': upstream.url }, { idle: 200 });
    serve = (socket) => socket.pause();
    const client = await open({ url: own.url });
    expect((await client.closed).code).toBe(1014);
    await own.close();
  });

  it('lives on when both sides only answer pings', async () => {
    const own = await startProxiedGateway({ '/api/v1/runs': upstream.url }, { idle: 200 });
    serve = () => undefined;
    const client = await open({ url: own.url });
    for (let ping = 0; ping < 4; ping += 1) await once(client.socket, 'ping');
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
    client.socket.close();
    await client.closed;
    await own.close();
  });

  it('ends with 1001 when the gateway closes', async () => {
    const own = await startProxiedGateway({ '/api/v1/runs': upstream.url });
    serve = () => undefined;
    const client = await open({ url: own.url });
    await own.close();
    expect((await client.closed).code).toBe(1001);
  });
});

describe('an upgrade that is refused', () => {
  it('by the upstream shows its answer, masked', async () => {
    expect(await refusedBy(gateway.url, { path: '/api/v1/runs/refuse/stream' })).toMatchObject({
      status: 403,
      headers: { 'x-why': 'mine', 'x-request-id': expect.any(String) },
      body: { error: 'MINE', message: '••• may not' },
    });
  });

  it.each([
    ['without a token', {}, {}, 401],
    ['with a wrong token', { authorization: 'Bearer nobody' }, {}, 401],
    ['outside the prefix by dot segments', viewer, { path: '/api/v1/runs/x%2f..%2fadmin' }, 400],
    ['with subprotocols that are none', { ...viewer, 'sec-websocket-protocol': 'a b' }, {}, 400],
  ])('%s', async (_what, headers, more, status) => {
    expect(
      await refusedBy(gateway.url, { ...more, headers: headers as Record<string, string> }),
    ).toMatchObject({ status });
  });

  it('because the upstream refuses connections is 503', async () => {
    const own = await startProxiedGateway({ '/api/v1/runs': await refusingUrl() });
    expect(await refusedBy(own.url)).toMatchObject({
      status: 503,
      body: { error: 'SERVICE_UNAVAILABLE', service: 'runs' },
    });
    await own.close();
  });

  it('because the upstream never answers is 504', async () => {
    const silent = await startTcp(() => undefined);
    const own = await startProxiedGateway({ '/api/v1/runs': silent.url }, { connect: 100, firstByte: 100 });
    expect(await refusedBy(own.url)).toMatchObject({
      status: 504,
      body: { error: 'GATEWAY_TIMEOUT', service: 'runs' },
    });
    await own.close();
    await silent.close();
  });

  it.each([
    ['reset'],
    ['garbage'],
    ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'],
  ])('because the upstream answers with %j is 502', async (how) => {
    const server = await startTcp((socket) =>
      socket.once('data', () => (how === 'reset' ? socket.resetAndDestroy() : socket.end(how))),
    );
    const own = await startProxiedGateway({ '/api/v1/runs': server.url });
    expect(await refusedBy(own.url)).toMatchObject({
      status: 502,
      body: { error: 'BAD_GATEWAY', service: 'runs' },
    });
    await own.close();
    await server.close();
  });
});
