import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type BookServer, problemsOf, serveBooks } from './support/book-server.js';
import { call } from './support/server.js';

describe('bodies of JSON rows', () => {
  let books: BookServer;
  let url: string;
  beforeAll(async () => {
    books = await serveBooks();
    url = books.url;
  });
  afterAll(() => books.running.close());
  beforeEach(() => {
    books.seen.length = 0;
    books.running.unexpected.length = 0;
  });

  const post = (body: unknown, headers?: Record<string, string>) =>
    call(`${url}/books`, 'POST', body, headers);

  it('drops read-only fields, fills defaults and keeps null apart from absent', async () => {
    const answer = await post({ id: 9, createdAt: 'x', title: 'Eden', pages: null });
    expect(answer).toMatchObject({
      status: 201,
      body: { title: 'Eden', availability: 'IN_STOCK', tags: [] },
    });
    expect(books.seen).toEqual([
      {
        field: 'addBook',
        args: { input: { title: 'Eden', pages: null, availability: 'IN_STOCK', tags: [] } },
      },
    ]);
    expect((await post({ title: 'known' })).status).toBe(200);
  });

  it('finds every structural problem at its path', async () => {
    const answer = await post({
      title: null,
      pages: 2 ** 31,
      price: '1',
      availability: 'GONE',
      tags: ['a', 1],
      author: { born: 1.5, nmae: 'x' },
      addedAt: 'yesterday',
      shelf: 'x',
      rare: 'true',
    });
    expect(problemsOf(answer)).toEqual([
      'body title isNotNull',
      'body pages isInt',
      'body price isNumber',
      'body availability isIn',
      'body tags.1 isString',
      'body author.nmae whitelistValidation',
      'body author.name isDefined',
      'body author.born isInt',
      'body addedAt isDateTime',
      'body shelf isUuid',
      'body rare isBoolean',
    ]);
    const { problems } = answer.body as { problems: { path: unknown; message: string }[] };
    expect(problems[4]).toMatchObject({ path: ['tags', 1], message: 'tags.1 must be a string' });
  });

  it.each([
    [[], 'body  isObject'],
    ['"text"', 'body  isObject'],
    [{ title: 'x', tags: 'a' }, 'body tags isArray'],
    [{ title: 'x', author: 'Lem' }, 'body author isObject'],
    ['null', 'body  isNotNull'],
    ['{"title":"x","__proto__":{"a":1}}', 'body __proto__ whitelistValidation'],
  ])('refuses %j', async (body, problem) => {
    expect(problemsOf(await post(body))).toEqual([problem]);
  });

  it('bounds the problems it lists', async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`f${at}`, 1]));
    expect(problemsOf(await post(many))).toHaveLength(100);
  });

  it('validates a list body item by item', async () => {
    const answer = await call(`${url}/books`, 'PUT', [{ title: 'a' }, {}, { title: 2 }]);
    expect(problemsOf(answer)).toEqual(['body 1.title isDefined', 'body 2.title isString']);
    expect((await call(`${url}/books`, 'PUT', [{ title: 'a' }])).body).toBe(1);
  });

  it('keeps undefined out of a patch, so that nothing is cleared', async () => {
    const answer = await call(`${url}/books/1?why=because`, 'PATCH', { title: 'New' });
    expect(answer.body).toEqual({ title: 'New' });
    expect((await call(`${url}/books/1?why=because`, 'PATCH', { title: null })).body).toEqual({
      title: null,
    });
  });

  it('never refuses a request without a body for its content type', async () => {
    for (const headers of [{}, { 'content-type': 'text/html' }, { 'content-length': '0' }]) {
      const answer = await call(`${url}/books`, 'POST', undefined, headers as Record<string, string>);
      expect([answer.status, problemsOf(answer)]).toEqual([400, ['body title isDefined']]);
    }
    expect((await call(`${url}/books/1?why=because`, 'PATCH')).body).toEqual({});
    expect(problemsOf(await call(`${url}/echo`, 'POST'))).toEqual(['body  isDefined']);
    expect((await call(`${url}/ping`, 'POST')).body).toBe(null);
    expect(books.seen.at(-1)).toEqual({ field: 'echo', args: {} });
  });

  it('takes JSON under its several names and refuses the rest', async () => {
    const body = JSON.stringify({ title: 'Eden' });
    for (const type of [
      'application/json; charset=utf-8',
      'application/merge-patch+json',
      'Application/JSON;charset="UTF-8"',
    ]) {
      expect((await post(body, { 'content-type': type })).status).toBe(201);
    }
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'application/json; charset=latin1' },
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    ] as Record<string, string>[]) {
      expect(await post(body, headers)).toMatchObject({
        status: 415,
        body: { kind: 'unsupported-media-type' },
      });
    }
  });

  it('refuses malformed JSON and broken UTF-8', async () => {
    expect(await post('{"title":')).toMatchObject({ status: 400, body: { kind: 'malformed-body' } });
    const broken = await fetch(`${url}/books`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from([0x22, 0xff, 0x22]),
    });
    expect(await broken.json()).toMatchObject({
      kind: 'malformed-body',
      message: 'The request body is not UTF-8',
    });
  });

  it('takes free-form JSON and text as they come, and leaves nulls inside data alone only when told', async () => {
    expect((await call(`${url}/echo`, 'POST', { a: [1, { b: 'c' }] })).body).toEqual({
      a: [1, { b: 'c' }],
    });
    const text = await call(`${url}/text`, 'POST', 'grüße', { 'content-type': 'text/plain' });
    expect([text.body, text.headers.get('content-type')]).toEqual(['GRÜSSE', 'text/plain; charset=utf-8']);
  });
});
