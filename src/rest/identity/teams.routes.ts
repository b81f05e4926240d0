import { param, routes } from 'rest-graphql-bridge';
import { pageOf, pageQuery } from '../page-query.js';
import { route } from '../route.js';
import {
  CreateTeamDocument,
  DeleteTeamDocument,
  GetTeamDocument,
  ListTeamsDocument,
  UpdateTeamDocument,
} from './teams.generated.js';

const tags = ['Teams'];
/** What GET answers and a client may send back unchanged. */
const readOnly = ['id', 'organizationId', 'createdAt'];

export const teamRoutes = routes(import.meta.url, [
  route(ListTeamsDocument, {
    method: 'GET',
    path: '/v1/teams',
    tags,
    summary: 'The teams the caller may see',
    query: { sortBy: param.oneOf(['createdAt', 'name'], { default: 'createdAt' }), ...pageQuery },
    variables: ({ query: { sortBy, ...page } }) => ({ sortBy, ...pageOf(page) }),
    nulls: { hasMore: 'omit', cursor: 'omit' },
  }),
  route(CreateTeamDocument, {
    method: 'POST',
    path: '/v1/teams',
    tags,
    summary: 'Add a team',
    body: { variable: 'input', readOnly },
    status: 201,
    responseHeaders: ({ createTeam }) => ({ location: `/v1/teams/${createTeam.id}` }),
  }),
  route(GetTeamDocument, {
    method: 'GET',
    path: '/v1/teams/:id',
    tags,
    summary: 'One team',
    variables: ({ params }) => params,
  }),
  route(UpdateTeamDocument, {
    method: 'PATCH',
    path: '/v1/teams/:id',
    tags,
    summary: 'Rename a team or replace its members',
    body: { variable: 'input', readOnly },
    variables: ({ params, body }) => ({ id: params.id, input: body }),
  }),
  route(DeleteTeamDocument, {
    method: 'DELETE',
    path: '/v1/teams/:id',
    tags,
    summary: 'Remove a team that has no tickets to work on',
    variables: ({ params }) => params,
    response: 'none',
  }),
]);
