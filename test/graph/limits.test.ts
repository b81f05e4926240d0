/**
 * The types it declares would stay in the graph of later files.
 * @jest-environment node
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { graphLimits } from '../../src/graph/limits.js';
import { type GraphServer, startGraphServer } from './graph-server.js';

let server: GraphServer;
let client: Client;

beforeAll(async () => {
  server = await startGraphServer();
  client = createClient({
    url: server.webSocketUrl,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: 'Bearer reader' },
  });
});

afterAll(async () => {
  await client.dispose();
  await server.close();
});

interface Refusal {
  message: string;
  extensions: { code: string };
}

/** The errors of both transports, which must not differ. */
async function refusals(query: string, variables?: Record<string, unknown>): Promise<Refusal[]> {
  const http = await server.query(query, 'Bearer reader', variables);
  const webSocket = await new Promise<Refusal[]>((resolve) => {
    let errors: Refusal[] = [];
    client.subscribe(
      { query, variables },
      {
        next: (result) => {
          errors = (result.errors ?? []) as unknown as Refusal[];
        },
        error: (refused) => resolve(refused as Refusal[]),
        complete: () => resolve(errors),
      },
    );
  });
  const seen = (errors: Refusal[] = []) =>
    errors.map(({ message, extensions }) => [message, extensions.code]);
  expect(seen(webSocket)).toEqual(seen(http.body.errors));
  return webSocket;
}

const repeat = (count: number, part: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ');
/** Fields below each other, `depth` of them. */
const nested = (depth: number, relation = 'original') =>
  `{ book ${`{ ${relation} `.repeat(depth - 2)} { id } ${'} '.repeat(depth - 2)}}`;

describe('each limit lets through what is at it and refuses what is over it', () => {
  const { depth, aliases, directives } = graphLimits;
  const allowed: [string, string][] = [
    ['depth', nested(depth)],
    ['aliases', `{ ${repeat(aliases, (n) => `a${n}: __schema { description }`)} }`],
    ['directives', `{ book { ${repeat(directives, () => 'id @include(if: true)')} } }`],
    ['cost', '{ books(limit: 1000) { data { id author { name } } } }'],
    ['introspection', getIntrospectionQuery()],
  ];

  it.each(allowed)('%s at the limit', async (_name, query) => {
    expect(await refusals(query)).toEqual([]);
  });

  it.each([
    [
      'tokens',
      `{ book { ${repeat(graphLimits.tokens, () => 'id')} } }`,
      'GRAPHQL_PARSE_FAILED',
      /more that 2000 tokens/,
    ],
    ['depth', nested(depth + 1), 'GRAPHQL_VALIDATION_FAILED', /depth limit of 10 exceeded, found 11/],
    [
      'depth through fragments',
      `{ book { ...A } } fragment A on Book { original { ...B } } fragment B on Book ${'{ original '.repeat(depth - 1)} { id } ${'} '.repeat(depth - 1)}`,
      'GRAPHQL_VALIDATION_FAILED',
      /depth limit/,
    ],
    [
      'aliases',
      `{ ${repeat(aliases + 1, (n) => `a${n}: book { id }`)} }`,
      'GRAPHQL_VALIDATION_FAILED',
      /Aliases limit of 30/,
    ],
    [
      'directives',
      `{ book { ${repeat(directives + 1, () => 'id @include(if: true)')} } }`,
      'GRAPHQL_VALIDATION_FAILED',
      /Directives limit of 20/,
    ],
    [
      'cost of nested lists',
      '{ books(limit: 500) { data { sequels { author { name } } } } }',
      'GRAPHQL_VALIDATION_FAILED',
      /may return \d+ objects/,
    ],
    ['cost of unpaged lists', nested(6, 'sequels'), 'GRAPHQL_VALIDATION_FAILED', /may return \d+ objects/],
    [
      'introspection that goes in circles',
      '{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }',
      'GRAPHQL_VALIDATION_FAILED',
      /introspection depth/i,
    ],
  ])('%s over the limit', async (_name, query, code, message) => {
    const [error] = await refusals(query);
    expect(error?.extensions.code).toBe(code);
    expect(error?.message).toMatch(message);
  });

  it('counts the limit that arrives as a variable', async () => {
    const query = 'query ($limit: Int!) { books(limit: $limit) { data { sequels { id } } } }';
    expect(await refusals(query, { limit: 10 })).toEqual([]);
    const [error] = await refusals(query, { limit: 1000 });
    expect(error?.message).toMatch(/may return 11001 objects/);
    // Costs are remembered: neither an undeclared variable nor the cheap request before it may lend its price.
    const disguised = { limit: 10, 'limit=10 limit': 1000, ' limit': 1000 };
    expect(await refusals(query, disguised)).toEqual([]);
    expect((await refusals(query, { limit: 1000 }))[0]?.message).toMatch(/may return 11001 objects/);
  });

  it('leaves a variable of another type to the refusal of its type', async () => {
    const query = 'query ($limit: Int!) { books(limit: $limit) { total } }';
    expect(await refusals(query, { limit: 10 })).toEqual([]);
    expect((await refusals(query, { limit: '1000' }))[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect((await refusals(query, {}))[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('counts what is included by a variable', async () => {
    const query =
      'query ($all: Boolean!) { books(limit: 1000) { data { id author @include(if: $all) { name } sequels @include(if: $all) { id } } } }';
    expect(await refusals(query, { all: false })).toEqual([]);
    expect((await refusals(query, { all: true }))[0]?.message).toMatch(/may return 12001 objects/);
  });
});

describe('a document made to be expensive', () => {
  const doubling = repeat(
    14,
    (n) => `fragment F${n} on Book { a: sequels { ...F${n + 1} } b: sequels { ...F${n + 1} } }`,
  );
  const spreading = repeat(24, (n) => `fragment F${n} on Book { ...F${n + 1} ...F${n + 1} }`);

  it.each([
    ['fragments that double at each level', `{ book { ...F0 } } ${doubling} fragment F14 on Book { id }`],
    ['fragments that only spread others', `{ book { ...F0 } } ${spreading} fragment F24 on Book { id }`],
    ['fragments in a circle', '{ book { ...A } } fragment A on Book { ...B } fragment B on Book { ...A }'],
    [
      'many fields of one name, which have to be compared pairwise',
      `{ ${repeat(150, () => 'book { id title printedAt marks author { name } }')} bok }`,
    ],
  ])('is refused quickly: %s', async (_name, query) => {
    const start = performance.now();
    expect((await refusals(query)).length).toBeGreaterThan(0);
    // Two answers; ordinary ones take 5 ms, and without limits the first two would take minutes.
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
