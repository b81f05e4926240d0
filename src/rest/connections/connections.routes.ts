import { param, routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import { CreateConnectionDocument, ListConnectionsDocument } from './connections.generated.js';

const readOnly = ['id', 'workspaceId', 'createdAt', 'updatedAt', 'createdBy'];

export const connectionRoutes = routes(import.meta.url, [
  route(ListConnectionsDocument, {
    method: 'GET',
    path: '/api/v1/connections',
    tags: ['connections'],
    query: { limit: param.int({ min: 1, max: 1000, default: 1000 }) },
    variables: ({ query }) => query,
  }),
  route(CreateConnectionDocument, {
    method: 'POST',
    path: '/api/v1/connections',
    tags: ['connections'],
    body: { variable: 'input', readOnly },
    status: 201,
  }),
]);
