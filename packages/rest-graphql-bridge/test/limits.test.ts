import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { route, routes } from '../src/index.js';
import { document, library } from './support/library.js';
import { type Running, serve } from './support/server.js';

const AddBook = document<{ addBook: { title: string } }, { input: { title: string } }>(
  'mutation AddBook($input: BookInput!) { addBook(input: $input) { title } }',
);
const Failing = document<{ failing: string }>('query Failing { failing }');

describe('a request at its limits', () => {
  let running: Running;
  beforeAll(async () => {
    const table = routes(import.meta.url, [
      route(AddBook, { method: 'POST', path: '/books', body: { variable: 'input' } }),
      route(AddBook, { method: 'POST', path: '/staff', access: 'staff', body: { variable: 'input' } }),
      route(Failing, { method: 'GET', path: '/failing' }),
    ]);
    running = await serve({
      schema: library().schema,
      tables: [table],
      maxBodyBytes: 1_000,
      context: (_request, access) => {
        if (access === 'staff') throw new Error('staff only');
        return {};
      },
    });
  });
  afterAll(() => running.close());

  async function rawPost(path: string, ...headers: string[]): Promise<Socket> {
    const socket = connect(running.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      [`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', ...headers, '', ''].join('\r\n'),
    );
    return socket;
  }

  /** All that comes until the server closes the connection. */
  async function untilClosed(socket: Socket): Promise<string> {
    let text = '';
    for await (const chunk of socket) text += chunk;
    return text;
  }

  it('refuses by the announced length, before the body has come', async () => {
    const socket = await rawPost('/books', 'Content-Length: 5000000');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 .*connection: close.*"limitBytes":1000/is);
    socket.destroy();
  });

  it('refuses a body of unannounced length as soon as it is too long', async () => {
    const socket = await rawPost('/books', 'Transfer-Encoding: chunked');
    const chunk = `${(500).toString(16)}\r\n${'x'.repeat(500)}\r\n`;
    socket.write(chunk.repeat(3));
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('lets a client that is still sending read the answer, and then closes', async () => {
    const socket = await rawPost('/books', 'Content-Length: 3000000');
    socket.write('x'.repeat(3_000_000));
    const answer = await untilClosed(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*\{"kind":"body-too-large","limitBytes":1000\}$/s);
  });

  it('does not read for ever: an endless body is cut off', async () => {
    const socket = await rawPost('/books', 'Transfer-Encoding: chunked');
    socket.on('error', () => undefined);
    const chunk = `${(1_000_000).toString(16)}\r\n${'x'.repeat(1_000_000)}\r\n`;
    let sent = 0;
    const send = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += 1;
      sent += 1;
    };
    socket.on('drain', send);
    send();
    socket.resume();
    // Not `once` of node:events, which rejects at the reset that is expected here.
    await new Promise((resolve) => socket.once('close', resolve));
    expect(sent).toBeGreaterThan(1);
    expect(sent).toBeLessThan(60);
  });

  it('keeps the connection when a small body was left unread', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let at = 0; at < 3; at += 1) {
      const request = httpRequest({
        port: running.port,
        path: '/staff',
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json' },
      });
      request.end(JSON.stringify({ title: 'x'.repeat(5_000) }));
      const [response] = await once(request, 'response');
      ports.add(request.socket?.localPort);
      expect(response.statusCode).toBe(500);
      response.resume();
      await once(response, 'end');
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  it('may name its target in absolute form', async () => {
    const socket = connect(running.port, '127.0.0.1');
    socket.write('GET http://books.example/failing?a=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 502 .*the shelf fell/s);
    const root = connect(running.port, '127.0.0.1');
    root.write('GET http://books.example HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await untilClosed(root)).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('answers a body that ends early to nobody, and serves the next', async () => {
    const socket = await rawPost('/books', 'Content-Length: 900');
    socket.write('{"title":');
    socket.destroy();
    const answer = await fetch(`${running.url}/books`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"title":"Eden"}',
    });
    expect(await answer.json()).toEqual({ title: 'Eden' });
  });
});
