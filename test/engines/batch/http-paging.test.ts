import { describe, expect, it } from '@jest/globals';
import { ALL, HttpServer, idsOf, json } from './http-fixture.js';

const http = new HttpServer();

describe('an http source', () => {
  it('follows pages', async () => {
    http.answer = (url, response) => {
      const start = (Number(url.searchParams.get('p')) - 1) * 2;
      json(response, ALL.slice(start, start + 2));
    };
    const { rows } = await http.read({
      paging: { kind: 'page', parameter: 'p', sizeParameter: 'n', size: 2 },
    });
    expect(idsOf(rows)).toEqual([1, 2, 3, 4, 5]);
    expect(http.asked()).toEqual(['/api/orders?p=1&n=2', '/api/orders?p=2&n=2', '/api/orders?p=3&n=2']);
  });

  it('follows offsets', async () => {
    http.answer = (url, response) => {
      const start = Number(url.searchParams.get('from'));
      json(response, ALL.slice(start, start + 3));
    };
    const { rows } = await http.read({ paging: { kind: 'offset', parameter: 'from', size: 3 } });
    expect(idsOf(rows)).toEqual([1, 2, 3, 4, 5]);
    expect(http.asked()).toEqual(['/api/orders?from=0', '/api/orders?from=3', '/api/orders?from=5']);
  });

  it('reads all rows of a server that gives fewer at a time than it is asked for', async () => {
    http.answer = (url, response) => {
      const start = Number(url.searchParams.get('from'));
      json(response, ALL.slice(start, start + 2));
    };
    const { rows } = await http.read({
      paging: { kind: 'offset', parameter: 'from', sizeParameter: 'n', size: 500 },
    });
    expect(idsOf(rows)).toEqual([1, 2, 3, 4, 5]);
  });

  it('gives a cursor back as it was written, though a double cannot hold it', async () => {
    http.answer = (url, response) => {
      const isFirst = !url.searchParams.has('after');
      response.end(`{"rows": [{"id": 1}], "next": ${isFirst ? '1712345678901234567' : 'null'}}`);
    };
    const paging = { kind: 'cursor', parameter: 'after', path: '/next' } as const;
    expect((await http.read({ rows: '/rows', paging })).rows).toHaveLength(2);
    expect(http.asked()).toEqual(['/api/orders', '/api/orders?after=1712345678901234567']);
  });

  it.each([
    ['cursors', { kind: 'cursor', parameter: 'at', path: '/next' }, 'same cursor twice'],
    ['links', { kind: 'link' }, 'same link twice'],
  ] as const)('fails when %s go round in a circle', async (_, paging, message) => {
    const after: Record<string, string> = { a: 'b', b: 'c', c: 'a' };
    http.answer = (url, response) => {
      const next = after[url.searchParams.get('at') ?? ''] ?? 'a';
      json(response, { rows: ALL, next }, { link: `</api/orders?at=${next}>; rel=next` });
    };
    await expect(http.read({ rows: '/rows', paging })).rejects.toMatchObject({
      kind: 'SOURCE',
      message: expect.stringContaining(message),
    });
    expect(http.requests).toHaveLength(4);
  });

  it('follows cursors', async () => {
    http.answer = (url, response) => {
      const at = Number(url.searchParams.get('after') ?? 0);
      json(response, { rows: ALL.slice(at, at + 2), 'a/b': { next: at + 2 < 5 ? at + 2 : null } });
    };
    const { rows } = await http.read({
      rows: '/rows',
      paging: { kind: 'cursor', parameter: 'after', path: '/a~1b/next' },
    });
    expect(idsOf(rows)).toEqual([1, 2, 3, 4, 5]);
    http.answer = (_, response) => json(response, { rows: ALL, next: 'same' });
    await expect(
      http.read({ rows: '/rows', paging: { kind: 'cursor', parameter: 'after', path: '/next' } }),
    ).rejects.toMatchObject({ kind: 'SOURCE', message: expect.stringContaining('same cursor twice') });
  });

  it('follows links of its own origin only', async () => {
    http.answer = (url, response) => {
      const at = Number(url.searchParams.get('at') ?? 0);
      const next = `<https://example.org/x,y>; rel="prev", </api/orders?at=${at + 2}>; title="a, b"; rel="last next"`;
      json(response, ALL.slice(at, at + 2), at + 2 < 5 ? { link: next } : {});
    };
    expect(idsOf((await http.read({ paging: { kind: 'link' } })).rows)).toEqual([1, 2, 3, 4, 5]);
    http.answer = (_, response) => json(response, ALL, { link: '<http://127.0.0.1:1/steal>; rel=next' });
    await expect(http.read({ paging: { kind: 'link' } })).rejects.toMatchObject({
      kind: 'SOURCE',
      message: expect.stringContaining('another origin'),
    });
  });

  it('stops at the page limit', async () => {
    http.answer = (_, response) => json(response, ALL);
    await expect(http.read({ paging: { kind: 'page', parameter: 'p' }, maxPages: 3 })).rejects.toMatchObject({
      kind: 'SOURCE',
      message: '/orders has more than 3 pages.',
    });
    expect(http.requests).toHaveLength(3);
  });
});
