import { param, routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import {
  CreateConnectionDocument,
  DeleteConnectionDocument,
  GetConnectionDocument,
  GetConnectionSchemaDocument,
  ListConnectionsDocument,
  TestConnectionDocument,
  UpdateConnectionDocument,
} from './connections.generated.js';

const readOnly = ['id', 'workspaceId', 'createdAt', 'updatedAt', 'createdBy'];
const params = { id: param.uuid() };

export const connectionRoutes = routes(import.meta.url, [
  route(ListConnectionsDocument, {
    method: 'GET',
    path: '/api/v1/connections',
    tags: ['connections'],
    query: {
      type: param.oneOf(['postgres', 'mysql', 'file', 'http', 'kafka'] as const),
      search: param.string({ description: 'Part of the name.' }),
      limit: param.int({ min: 1, max: 1000, default: 1000 }),
    },
    variables: ({ query }) => query,
  }),
  route(CreateConnectionDocument, {
    method: 'POST',
    path: '/api/v1/connections',
    tags: ['connections'],
    body: { variable: 'input', readOnly },
    status: 201,
  }),
  route(GetConnectionDocument, {
    method: 'GET',
    path: '/api/v1/connections/:id',
    tags: ['connections'],
    params,
    variables: ({ params }) => params,
  }),
  route(UpdateConnectionDocument, {
    method: 'PUT',
    path: '/api/v1/connections/:id',
    tags: ['connections'],
    params,
    body: { variable: 'input', readOnly },
    variables: ({ params, body }) => ({ id: params.id, input: body }),
  }),
  route(DeleteConnectionDocument, {
    method: 'DELETE',
    path: '/api/v1/connections/:id',
    tags: ['connections'],
    params,
    variables: ({ params }) => params,
    response: 'none',
  }),
  route(TestConnectionDocument, {
    method: 'POST',
    path: '/api/v1/connections/:id/test',
    tags: ['connections'],
    params,
    variables: ({ params }) => params,
    status: 200,
  }),
  route(GetConnectionSchemaDocument, {
    method: 'GET',
    path: '/api/v1/connections/:id/schema',
    tags: ['connections'],
    params,
    variables: ({ params }) => params,
  }),
]);
