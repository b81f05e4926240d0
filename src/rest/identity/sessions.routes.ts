import { routes } from 'rest-graphql-bridge';
import { byCreation, pageOf, pageQuery } from '../page-query.js';
import { route } from '../route.js';
import {
  EndSessionDocument,
  ListSessionsDocument,
  ListUserSessionsDocument,
  RevokeTokenDocument,
  RevokeUserSessionsDocument,
} from './sessions.generated.js';

const tags = ['Sessions'];

export const sessionRoutes = routes(import.meta.url, [
  route(ListSessionsDocument, {
    method: 'GET',
    path: '/v1/auth/sessions',
    tags,
    summary: 'The active sessions of the caller',
    query: { ...pageQuery, ...byCreation },
    variables: ({ query }) => pageOf(query),
    nulls: { hasMore: 'omit', cursor: 'omit' },
  }),
  route(EndSessionDocument, {
    method: 'DELETE',
    path: '/v1/auth/sessions/:id',
    tags,
    summary: 'End one session of the caller',
    variables: ({ params }) => ({ id: params.id }),
    response: 'none',
    status: 204,
  }),
  route(ListUserSessionsDocument, {
    method: 'GET',
    path: '/v1/users/:id/sessions',
    tags,
    summary: 'The active sessions of a user',
    query: { ...pageQuery, ...byCreation },
    variables: ({ params, query }) => ({ userId: params.id, ...pageOf(query) }),
    nulls: { hasMore: 'omit', cursor: 'omit' },
  }),
  route(RevokeUserSessionsDocument, {
    method: 'POST',
    path: '/v1/users/:id/sessions/revoke',
    tags,
    summary: 'End every session of a user',
    body: { type: 'none' },
    variables: ({ params }) => ({ userId: params.id }),
    status: 200,
  }),
  route(RevokeTokenDocument, {
    method: 'POST',
    path: '/v1/auth/tokens/revoke',
    tags,
    summary: 'Revoke one access token',
    description:
      'Its session lives on. A token that is no good any more is answered with revoked: false (RFC 7009).',
    body: { variable: 'input' },
    status: 200,
  }),
]);
