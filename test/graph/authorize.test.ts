/**
 * The types it declares would stay in the graph of later files.
 * @jest-environment node
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphServer, startGraphServer } from './graph-server.js';

let server: GraphServer;

beforeAll(async () => {
  server = await startGraphServer();
});

afterAll(() => server.close());

async function outcome(query: string, authorization: string | undefined) {
  const { body } = await server.query(query, authorization);
  const [error] = body.errors ?? [];
  return error ? { code: error.extensions.code, details: error.extensions.details } : body.data;
}

const books = '{ books(limit: 1) { total } }';

describe('@Permission', () => {
  it('asks nobody for anything on a public field', async () => {
    expect(await outcome('{ book { id } }', undefined)).toEqual({ book: { id: 'b1' } });
  });

  it.each([undefined, 'Bearer viewer', 'Bearer admin'])(
    'knows no ITSM caller in %s',
    async (authorization) => {
      expect(await outcome(books, authorization)).toEqual({ code: 'AUTHENTICATION_ERROR' });
    },
  );

  it('refuses a caller without the permission and says which one is missing', async () => {
    expect(await outcome(books, 'Bearer stranger')).toEqual({
      code: 'AUTHORIZATION_ERROR',
      details: { requiredPermission: 'tickets:read:own', currentRole: 'end_user' },
    });
  });

  it.each(['Bearer reader', 'Bearer manager'])(
    'lets %s in, by the permission or a wider one',
    async (who) => {
      expect(await outcome(books, who)).toEqual({ books: { total: 3 } });
    },
  );

  it.each([undefined, 'Bearer manager'])('knows no platform caller in %s', async (authorization) => {
    expect(await outcome('{ catalogue }', authorization)).toEqual({ code: 'AUTHENTICATION_ERROR' });
  });

  it('binds mutations to the rule of their kind, by the highest role held', async () => {
    expect(await outcome('{ catalogue }', 'Bearer viewer')).toEqual({ catalogue: 'viewer' });
    expect(await outcome('mutation { burn }', 'Bearer viewer')).toEqual({
      code: 'AUTHORIZATION_ERROR',
      details: { requiredPermission: 'delete', requiredRole: 'ADMIN', currentRole: 'VIEWER' },
    });
    expect(await outcome('mutation { burn }', 'Bearer admin')).toEqual({ burn: true });
  });

  it('judges each root field of an operation by itself', async () => {
    const { body } = await server.query('{ catalogue book { id } }');
    expect(body.data).toBeNull();
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].path).toEqual(['catalogue']);
  });
});
