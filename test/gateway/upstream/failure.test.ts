import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import {
  engineer,
  refusingUrl,
  send,
  startProxiedGateway,
  startTcp,
  startUpstream,
  viewer,
} from './proxied-gateway.js';

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
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"a":1,', () => response.destroy());
    });
    const own = await startProxiedGateway({ '/api/v1/copilot': upstream.url });
    await expect(send(`${own.url}/api/v1/copilot/x`, { headers: viewer })).rejects.toThrow('aborted');
    await own.close();
    await upstream.close();
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
