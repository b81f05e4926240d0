import { param, routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import {
  CreatePipelineDocument,
  DeletePipelineDocument,
  DeprecatePipelineDocument,
  GetPipelineDocument,
  GetPipelineRevisionDocument,
  GetPipelineSchemaDocument,
  ListPipelineRevisionsDocument,
  ListPipelinesDocument,
  RetirePipelineDocument,
  UpdatePipelineDocument,
  ValidateDefinitionDocument,
  ValidatePipelineDocument,
} from './pipelines.generated.js';

/** What GET answers and a client may send back unchanged. */
const readOnly = [
  'id',
  'workspaceId',
  'version',
  'status',
  'lifecycleStage',
  'createdAt',
  'updatedAt',
  'createdBy',
];

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
  route(GetPipelineSchemaDocument, {
    method: 'GET',
    path: '/api/v1/pipelines/schema',
    tags: ['pipelines'],
  }),
  route(ValidateDefinitionDocument, {
    method: 'POST',
    path: '/api/v1/pipelines/validate',
    tags: ['pipelines'],
    body: { variable: 'input' },
    status: 200,
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
  route(ValidatePipelineDocument, {
    method: 'POST',
    path: '/api/v1/pipelines/:id/validate',
    tags: ['pipelines'],
    params: { id: param.uuid() },
    variables: ({ params }) => params,
    status: 200,
  }),
  route(DeprecatePipelineDocument, {
    method: 'POST',
    path: '/api/v1/pipelines/:id/deprecate',
    tags: ['pipelines'],
    params: { id: param.uuid() },
    variables: ({ params }) => params,
    status: 200,
  }),
  route(RetirePipelineDocument, {
    method: 'POST',
    path: '/api/v1/pipelines/:id/retire',
    tags: ['pipelines'],
    params: { id: param.uuid() },
    variables: ({ params }) => params,
    status: 200,
  }),
  route(ListPipelineRevisionsDocument, {
    method: 'GET',
    path: '/api/v1/pipelines/:id/revisions',
    tags: ['pipelines'],
    params: { id: param.uuid() },
    query: {
      limit: param.int({ min: 1, max: 1000, default: 50 }),
      before: param.int({ min: 1, description: 'Only versions below this one.' }),
    },
    variables: ({ params, query }) => ({ id: params.id, ...query }),
  }),
  route(GetPipelineRevisionDocument, {
    method: 'GET',
    path: '/api/v1/pipelines/:id/revisions/:version',
    tags: ['pipelines'],
    params: { id: param.uuid(), version: param.int({ min: 1 }) },
    variables: ({ params }) => params,
  }),
]);
