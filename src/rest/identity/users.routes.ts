import { param, routes } from 'rest-graphql-bridge';
import { pageOf, pageQuery } from '../page-query.js';
import { route } from '../route.js';
import {
  CreateUserDocument,
  DeactivateUserDocument,
  GetMeDocument,
  GetUserDocument,
  ListUsersDocument,
  UpdateUserDocument,
} from './users.generated.js';

const tags = ['Users'];
const roles = [
  'end_user',
  'service_desk_agent',
  'service_desk_manager',
  'tenant_admin',
  'super_admin',
] as const;

/** What GET answers and a client may send back unchanged. */
const readOnly = ['id', 'organizationId', 'createdAt', 'updatedAt'];

export const userRoutes = routes(import.meta.url, [
  route(ListUsersDocument, {
    method: 'GET',
    path: '/v1/users',
    tags,
    summary: 'The users the caller may see',
    query: {
      role: param.list(param.oneOf(roles)),
      teamId: param.list(param.string(), { maxItems: 100 }),
      active: param.boolean(),
      q: param.string({ description: 'Part of the name or the e-mail address.', maxLength: 255 }),
      sortBy: param.oneOf(['createdAt', 'updatedAt', 'email', 'name'], { default: 'createdAt' }),
      ...pageQuery,
    },
    variables: ({ query: { role, teamId, active, q, sortBy, ...page } }) => ({
      filter: { role, teamId, active, q },
      sortBy,
      ...pageOf(page),
    }),
    nulls: { hasMore: 'omit', cursor: 'omit' },
  }),
  route(CreateUserDocument, {
    method: 'POST',
    path: '/v1/users',
    tags,
    summary: 'Add a user, who gets a link by e-mail that sets a password',
    body: { variable: 'input', readOnly: [...readOnly, 'active'] },
    status: 201,
    responseHeaders: ({ createUser }) => ({ location: `/v1/users/${createUser.id}` }),
  }),
  route(GetMeDocument, {
    method: 'GET',
    path: '/v1/users/me',
    tags,
    summary: 'Whose credential it is',
  }),
  route(GetUserDocument, {
    method: 'GET',
    path: '/v1/users/:id',
    tags,
    summary: 'One user',
    variables: ({ params }) => params,
  }),
  route(UpdateUserDocument, {
    method: 'PATCH',
    path: '/v1/users/:id',
    tags,
    summary: 'Change a user; a new role counts from the next login or refresh on',
    body: { variable: 'input', readOnly },
    variables: ({ params, body }) => ({ id: params.id, input: body }),
  }),
  route(DeactivateUserDocument, {
    method: 'DELETE',
    path: '/v1/users/:id',
    tags,
    summary: 'Deactivate a user: sessions end, and nobody logs in',
    variables: ({ params }) => params,
    response: 'none',
  }),
]);
