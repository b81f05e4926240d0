import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { createBridge, type ErrorRenderer, route, routes } from '../src/index.js';
import { document, library } from './support/library.js';
import { call, type Running, serve } from './support/server.js';

const Failing = document<{ failing: string }>('query Failing { failing }');
const Book = document<{ book: { id: string } }>('query Book { book(id: 1) { id } }');

const named = (name: string): ErrorRenderer => ({
  render: (failure) => ({ status: 400, headers: { 'X-Kind': failure.kind }, body: { language: name } }),
});

describe('surfaces', () => {
  let running: Running | undefined;
  afterEach(() => running?.close());

  it('speak by the longest prefix in whole segments; a row may have its own language', async () => {
    running = await serve({
      schema: library().schema,
      surfaces: [
        { prefix: '/', errors: named('root') },
        { prefix: '/v1', errors: named('v1') },
      ],
      tables: [
        routes(import.meta.url, [
          route(Failing, { method: 'GET', path: '/v1/failing' }),
          route(Failing, { method: 'GET', path: '/v10/failing' }),
          route(Failing, { method: 'GET', path: '/v1/own', errors: named('own') }),
        ]),
      ],
    });
    const { url } = running;
    const languageOf = async (path: string, method = 'GET') => {
      const { body, headers } = await call(url + path, method);
      return [(body as { language: string }).language, headers.get('x-kind')];
    };
    expect(await languageOf('/v1/failing')).toEqual(['v1', 'graphql']);
    expect(await languageOf('/v10/failing')).toEqual(['root', 'graphql']);
    expect(await languageOf('/v1/own')).toEqual(['own', 'graphql']);
    expect(await languageOf('/v1/nothing')).toEqual(['v1', 'not-found']);
    expect(await languageOf('/v1')).toEqual(['v1', 'not-found']);
    expect(await languageOf('/nothing')).toEqual(['root', 'not-found']);
    expect(await languageOf('/v1/failing', 'DELETE')).toEqual(['v1', 'method-not-allowed']);
    expect(running.unexpected).toEqual([]);
  });

  it("leave what they don't cover to the next middleware, below a mount point as well", async () => {
    const { schema } = library();
    const bridge = createBridge({
      schema,
      context: () => ({}),
      tables: [routes(import.meta.url, [route(Book, { method: 'GET', path: '/api/book' })])],
    });
    const app = express();
    app.use('/api', bridge.middleware);
    app.use((_request, response) => {
      response.send('the next one');
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect((await call(`${url}/api/book`)).body).toEqual({ id: '1' });
    expect((await call(`${url}/api/other`)).body).toBe('the next one');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('answer though their renderer throws, and say why to the host alone', async () => {
    const broken: ErrorRenderer = {
      render: () => {
        throw new Error('secret of the renderer');
      },
    };
    running = await serve({
      schema: library().schema,
      surfaces: [{ prefix: '/', errors: broken }],
      tables: [routes(import.meta.url, [route(Failing, { method: 'GET', path: '/failing' })])],
    });
    expect(await call(`${running.url}/failing`)).toMatchObject({
      status: 500,
      body: { error: 'internal error' },
    });
    expect(running.unexpected).toMatchObject([{ message: 'secret of the renderer' }]);
  });

  it('answer though their renderer makes a header that can not be sent', async () => {
    const split: ErrorRenderer = {
      render: () => ({ status: 400, headers: { 'x-why': 'a\r\nb: c' }, body: {} }),
    };
    running = await serve({
      schema: library().schema,
      surfaces: [{ prefix: '/', errors: split }],
      tables: [routes(import.meta.url, [route(Failing, { method: 'GET', path: '/failing' })])],
    });
    expect(await call(`${running.url}/failing`)).toMatchObject({ status: 500, body: '' });
    expect(running.unexpected).toMatchObject([{ code: 'ERR_INVALID_CHAR' }]);
  });

  it('need not be: plain errors tell the client no internals', async () => {
    running = await serve({
      schema: library().schema,
      surfaces: [],
      tables: [routes(import.meta.url, [route(Failing, { method: 'GET', path: '/failing' })])],
    });
    expect(await call(`${running.url}/failing`)).toMatchObject({
      status: 500,
      body: { error: 'internal error' },
    });
    expect(running.unexpected).toMatchObject([{ message: 'the shelf fell' }]);
  });

  it('send a string as text, no body as an empty one, and several headers of one name', async () => {
    const bare: ErrorRenderer = {
      render: ({ kind }) =>
        kind === 'not-found'
          ? { status: 404, headers: { 'Set-Cookie': ['a=1', 'b=2'] } }
          : { status: 400, body: 'plain words' },
    };
    running = await serve({
      schema: library().schema,
      surfaces: [{ prefix: '/', errors: bare }],
      tables: [routes(import.meta.url, [route(Failing, { method: 'GET', path: '/failing' })])],
    });
    const text = await call(`${running.url}/failing`);
    expect([text.body, text.headers.get('content-type')]).toEqual([
      'plain words',
      'text/plain; charset=utf-8',
    ]);
    const empty = await call(`${running.url}/nothing`);
    expect([empty.status, empty.body, empty.headers.getSetCookie()]).toEqual([404, '', ['a=1', 'b=2']]);
  });
});
