import { param, routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import {
  CreatePipelineDocument,
  DeletePipelineDocument,
  GetPipelineDocument,
  ListPipelinesDocument,
  UpdatePipelineDocument,
} from './pipelines.generated.js';

/** What GET answers and a client may send back unchanged. */
const readOnly = ['id', 'workspaceId', 'version', 'status', 'createdAt', 'updatedAt', 'createdBy'];

export const pipelineRoutes = routes(import.meta.url, [
  route(ListPipelinesDocument, {
    method: 'GET',
    path: '/api/v1/pipelines',
    tags: ['pipelines'],
    query: {
      workspaceId: param.uuid({ description: "Only the token's own workspace is allowed." }),
      search: param.string({ description: 'Part of the name.' }),
      limit: param.int({ min: 1, max: 1000, default: 1000 }),
    },
    variables: ({ query }) => query,
  }),
  route(CreatePipelineDocument, {
    method: 'POST',
    path: '/api/v1/pipelines',
    tags: ['pipelines'],
    body: { variable: 'input', readOnly },
    status: 201,
  }),
  route(GetPipelineDocument, {
    method: 'GET',
    path: '/api/v1/pipelines/:id',
    tags: ['pipelines'],
    params: { id: param.uuid() },
    variables: ({ params }) => params,
  }),
  route(UpdatePipelineDocument, {
    method: 'PUT',
    path: '/api/v1/pipelines/:id',
    tags: ['pipelines'],
    params: { id: param.uuid() },
    body: { variable: 'input', readOnly },
    variables: ({ params, body }) => ({ id: params.id, input: body }),
  }),
  route(DeletePipelineDocument, {
    method: 'DELETE',
    path: '/api/v1/pipelines/:id',
    tags: ['pipelines'],
    params: { id: param.uuid() },
    variables: ({ params }) => params,
    response: 'none',
  }),
]);
