import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerUnparsable } from '../../src/gateway/unparsable-requests.js';
import { startGateway, type TestGateway } from './gateway-server.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
  answerUnparsable(gateway.server, gateway.gateway.failures);
});
afterAll(() => gateway.close());

/** Everything the server says until it ends the connection. */
async function say(...pieces: string[]): Promise<{ status: string; headers: string; body: string }> {
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const heard = text(socket);
  for (const piece of pieces) socket.write(piece);
  const [head = '', body = ''] = (await heard).split('\r\n\r\n');
  const [status = '', ...headers] = head.split('\r\n');
  return { status, headers: headers.join('\n').toLowerCase(), body };
}

describe('what is no HTTP', () => {
  it.each([
    ['a space in a header name', 'GET /v1/tickets?page=1 HTTP/1.1\r\nHost: x\r\nbad header: 1\r\n\r\n'],
    ['two lengths', 'POST /v1/tickets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    [
      'a length beside chunks',
      'POST /v1/tickets HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('(%s) is 400 in the envelope of its path, and ends the connection', async (_name, request) => {
    const { status, headers, body } = await say(request);
    expect(status).toBe('HTTP/1.1 400 Bad Request');
    expect(headers).toContain('connection: close');
    expect(headers).toContain(`content-length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toMatchObject({
      success: false,
      error: {
        code: 'VALIDATION_ERROR',
        details: { field: 'request', constraint: 'isHttp' },
        path: '/v1/tickets',
      },
    });
  });

  it('speaks as the platform does below /api/v1, and where no path can be read', async () => {
    for (const request of ['GET /api/v1/runs HTTP/9.9\r\n\r\n', '\u0016\u0003\u0001 hello\r\n\r\n']) {
      const { status, body } = await say(request);
      expect(status).toBe('HTTP/1.1 400 Bad Request');
      expect(JSON.parse(body)).toMatchObject({ error: 'BAD_REQUEST', message: expect.any(String) });
    }
  });

  it('is 431 for headers beyond what is read', async () => {
    const { status, headers, body } = await say(
      `GET /v1/x HTTP/1.1\r\nHost: x\r\nlong: ${'x'.repeat(20_000)}\r\n\r\n`,
    );
    expect(status).toBe('HTTP/1.1 431 Request Header Fields Too Large');
    expect(headers).toContain('connection: close');
    expect(body).toBe('');
  });

  it('leaves the server to everybody else', async () => {
    await say('nonsense\r\n\r\n');
    expect((await fetch(`${gateway.url}/v1/absent`)).status).toBe(404);
  });
});
