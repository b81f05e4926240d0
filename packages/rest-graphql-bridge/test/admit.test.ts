import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { type Arrival, route, routes } from '../src/index.js';
import { document, library } from './support/library.js';
import { call, type Running, serve } from './support/server.js';

const Book = document<{ book: { id: string } }>('query Book { book(id: 1) { id } }');
const Loans = document<{ loans: { seq: number } }>('subscription Loans { loans(bookId: 1) { seq } }');

describe.each([
  ['at once', (refused: boolean) => refuse(refused)],
  ['in its own time', async (refused: boolean) => refuse(refused)],
])('admit, deciding %s', (_, decide) => {
  let running: Running;
  let arrivals: Arrival['path'][];
  let contexts: number;
  let refused: boolean;
  beforeEach(async () => {
    [arrivals, contexts, refused] = [[], 0, false];
    running = await serve({
      schema: library().schema,
      tables: [
        routes(import.meta.url, [
          route(Book, { method: 'GET', path: '/books/:id' }),
          route.webSocket(Loans, { path: '/books/:id/live', message: ({ loans }) => loans }),
        ]),
      ],
      admit: (_request, { path, response }) => {
        arrivals.push(path);
        response?.setHeader('x-left', '3');
        return decide(refused);
      },
      context: () => {
        contexts += 1;
        return {};
      },
    });
  });
  afterEach(() => running.close());

  it('is told the template of every request, and may set headers on every answer', async () => {
    const answers = [
      await call(`${running.url}/books/7`),
      await call(`${running.url}/books/7`, 'DELETE'),
      await call(`${running.url}/books/7`, 'OPTIONS'),
      await call(`${running.url}/nothing`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 405, 204, 404]);
    expect(answers.map(({ headers }) => headers.get('x-left'))).toEqual(['3', '3', '3', '3']);
    expect(arrivals).toEqual(['/books/:id', '/books/:id', '/books/:id', undefined]);
  });

  it('refuses before the context is made and before the upgrade, in the language of the surface', async () => {
    refused = true;
    const answer = { kind: 'thrown', message: 'one too many' };
    for (const [path, method] of [
      ['/books/7', 'GET'],
      ['/books/7', 'DELETE'],
      ['/nothing', 'GET'],
    ]) {
      expect(await call(running.url + path, method)).toMatchObject({ status: 500, body: answer });
    }
    const client = new WebSocket(`ws://127.0.0.1:${running.port}/books/7/live`);
    const [, response] = await once(client, 'unexpected-response');
    let text = '';
    for await (const chunk of response) text += chunk;
    expect([response.statusCode, JSON.parse(text)]).toEqual([500, answer]);
    expect(arrivals.at(-1)).toBe('/books/:id/live');
    expect(contexts).toBe(0);
  });
});

function refuse(refused: boolean): void {
  if (refused) throw new Error('one too many');
}
