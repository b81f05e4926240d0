import { afterEach, describe, expect, it } from '@jest/globals';
import { param, type Row, route, routes } from '../src/index.js';
import { document, library } from './support/library.js';
import { call, type Running, serve } from './support/server.js';

/** Where graphql-jit and graphql-js part, the bridge has to give what graphql-js gives. */
describe('what reaches a resolver', () => {
  let running: Running | undefined;
  afterEach(() => running?.close());

  async function start(...rows: Row[]) {
    const lib = library();
    running = await serve({ schema: lib.schema, tables: [routes(import.meta.url, rows)] });
    const engines = running.bridge.routes.map((info) => info.engine);
    return { lib, url: running.url, engines };
  }
  const doc = <V extends object = Record<string, unknown>>(source: string) =>
    document<Record<string, unknown>, V>(source);

  it("has a Date where a variable's default is a custom scalar", async () => {
    const { url } = await start(
      route(doc('query Q($at: DateTime! = "2024-01-01T00:00:00Z") { addedAfter(at: $at) }'), {
        method: 'GET',
        path: '/x',
      }),
    );
    expect((await call(`${url}/x`)).body).toBe('[object Date]');
  });

  it("has a Date where an input field's default is one", async () => {
    const { url, engines } = await start(
      route(doc('query Q($since: Since!) { addedSince(since: $since) }'), {
        method: 'GET',
        path: '/x',
        variables: () => ({ since: {} }),
      }),
    );
    expect((await call(`${url}/x`)).body).toBe('[object Date]');
    expect(engines).toEqual(['jit']);
  });

  it('has the default of a non-null field that variables() left out', async () => {
    const { url, lib } = await start(
      route(doc('mutation M($input: BookInput!) { addBook(input: $input) { id } }'), {
        method: 'POST',
        path: '/x',
        variables: () => ({
          input: { title: 'Eden', pages: undefined, author: { name: 'Lem', born: undefined } },
        }),
      }),
    );
    expect((await call(`${url}/x`, 'POST')).status).toBe(200);
    expect(lib.seen[0]?.args).toEqual({
      input: { title: 'Eden', availability: 'IN_STOCK', tags: [], author: { name: 'Lem' } },
    });
  });

  it('has a default of its own at each request', async () => {
    const { url, lib } = await start(
      route(doc('mutation M($input: BookInput!) { addBook(input: $input) { id } }'), {
        method: 'POST',
        path: '/x',
        body: { variable: 'input' },
      }),
    );
    await call(`${url}/x`, 'POST', { title: 'a' });
    const input = lib.seen[0]?.args.input as { tags: string[] } | undefined;
    input?.tags.push('changed by a resolver');
    await call(`${url}/x`, 'POST', { title: 'b' });
    expect(lib.seen[1]?.args).toMatchObject({ input: { tags: [] } });
  });

  it('does not have an absent variable of an object literal: such an operation runs on graphql-js', async () => {
    const { url, engines } = await start(
      route(
        doc('query Q($title: String, $pages: Int) { patchOf(patch: { title: $title, pages: $pages }) }'),
        {
          method: 'GET',
          path: '/x',
          query: { title: param.string() },
          variables: ({ query }) => query,
        },
      ),
    );
    expect((await call(`${url}/x?title=Eden`)).body).toEqual({ title: 'Eden' });
    expect((await call(`${url}/x`)).body).toEqual({});
    expect(engines).toEqual(['graphql-js']);
  });

  it('may be an input type that contains itself, to a bounded depth', async () => {
    const { url, engines } = await start(
      route(doc('query Q($condition: Condition!) { matching(condition: $condition) }'), {
        method: 'POST',
        path: '/x',
        body: { variable: 'condition' },
      }),
    );
    const body = { all: [{ title: 'a' }, { all: [{ title: 'b' }] }] };
    expect((await call(`${url}/x`, 'POST', body)).body).toEqual(body);
    const deep = `${'{"all":['.repeat(20_000)}{}${']}'.repeat(20_000)}`;
    expect(await call(`${url}/x`, 'POST', deep)).toMatchObject({
      status: 400,
      body: { problems: [{ constraint: 'maxDepth' }] },
    });
    expect(engines).toEqual(['graphql-js']);
  });

  it('is exactly one field of a @oneOf input', async () => {
    const { url } = await start(
      route(doc('query Q($by: Lookup!) { lookUp(by: $by) }'), {
        method: 'POST',
        path: '/x',
        body: { variable: 'by' },
      }),
    );
    expect((await call(`${url}/x`, 'POST', { id: '1' })).body).toBe('id');
    for (const body of [{}, { id: '1', title: 'a' }, { id: null }]) {
      expect(await call(`${url}/x`, 'POST', body)).toMatchObject({
        status: 400,
        body: { problems: [{ constraint: 'isOneOf' }] },
      });
    }
  });

  it('is nothing when variables are refused: the errors say BAD_USER_INPUT', async () => {
    const { url, lib } = await start(
      route(doc('query Q($limit: Int) { books(limit: $limit) { total } }'), {
        method: 'GET',
        path: '/x',
        query: { limit: param.int() },
        variables: ({ query }) => query,
      }),
    );
    expect(await call(`${url}/x?limit=4294967296`)).toMatchObject({
      status: 502,
      body: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
    });
    expect(lib.seen).toEqual([]);
  });
});
