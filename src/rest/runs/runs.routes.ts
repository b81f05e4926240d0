import { param, routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import {
  CancelRunDocument,
  GetRunLogsDocument,
  GetRunStatusDocument,
  ListRunsDocument,
  RetryRunDocument,
  RunPipelineDocument,
  StreamRunDocument,
} from './runs.generated.js';

const finalStatuses = new Set<unknown>(['COMPLETED', 'FAILED', 'CANCELLED']);

export const runRoutes = routes(import.meta.url, [
  route(RunPipelineDocument, {
    method: 'POST',
    path: '/api/v1/pipelines/:id/run',
    tags: ['runs'],
    params: { id: param.uuid() },
    body: { variable: 'input', optional: true },
    variables: ({ params, body }) => ({ pipelineId: params.id, input: body }),
    status: 202,
  }),
  route(GetRunStatusDocument, {
    method: 'GET',
    path: '/api/v1/runs/:runId',
    tags: ['runs'],
    params: { runId: param.uuid() },
    variables: ({ params }) => ({ id: params.runId }),
  }),
  route(ListRunsDocument, {
    method: 'GET',
    path: '/api/v1/runs',
    tags: ['runs'],
    query: {
      pipelineId: param.uuid(),
      status: param.oneOf(['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const),
      limit: param.int({ min: 1, max: 1000, default: 100 }),
    },
    variables: ({ query }) => query,
  }),
  route(GetRunLogsDocument, {
    method: 'GET',
    path: '/api/v1/runs/:runId/logs',
    tags: ['runs'],
    params: { runId: param.uuid() },
    query: {
      taskId: param.string(),
      level: param.oneOf(['DEBUG', 'INFO', 'WARN', 'ERROR'] as const, { description: 'And what is worse.' }),
      limit: param.int({ min: 1, max: 1000, default: 100 }),
      after: param.int({ min: 0, description: 'Only what follows this number.' }),
    },
    variables: ({ params, query }) => ({ ...params, ...query }),
  }),
  route(CancelRunDocument, {
    method: 'POST',
    path: '/api/v1/runs/:runId/cancel',
    tags: ['runs'],
    params: { runId: param.uuid() },
    variables: ({ params }) => params,
    status: 200,
  }),
  route(RetryRunDocument, {
    method: 'POST',
    path: '/api/v1/runs/:runId/retry',
    tags: ['runs'],
    params: { runId: param.uuid() },
    variables: ({ params }) => params,
    status: 202,
  }),
  route.webSocket(StreamRunDocument, {
    path: '/api/v1/runs/:runId/stream',
    tags: ['runs'],
    params: { runId: param.uuid() },
    query: { after: param.int({ min: 0, description: 'Resume behind this message instead of a snapshot.' }) },
    variables: ({ params, query }) => ({ runId: params.runId, after: query.after }),
    message: ({ runUpdates }) =>
      Object.fromEntries(Object.entries(runUpdates).filter(([, value]) => value !== null)),
    closeWhen: ({ runUpdates: { type, status } }) =>
      type === 'run' && finalStatuses.has(status) ? { code: 1000, reason: status ?? '' } : undefined,
  }),
]);
