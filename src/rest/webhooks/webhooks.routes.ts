import { param, routes } from 'rest-graphql-bridge';
import { neverStored } from '../identity/never-stored.js';
import { byCreation, pageOf, pageQuery } from '../page-query.js';
import { route } from '../route.js';
import {
  CreateWebhookDocument,
  DeleteWebhookDocument,
  GetWebhookDocument,
  ListWebhookDeliveriesDocument,
  ListWebhooksDocument,
  RedeliverWebhookDocument,
  ReplayWebhookDocument,
  TestWebhookDocument,
  UpdateWebhookDocument,
} from './webhooks.generated.js';

const tags = ['webhooks'];
/** What GET answers and a client may send back unchanged. */
const readOnly = ['id', 'secret', 'organization_id', 'created_at', 'updated_at'];

export const webhookRoutes = routes(import.meta.url, [
  route(ListWebhooksDocument, {
    method: 'GET',
    path: '/v1/webhooks',
    tags,
    summary: 'The webhooks the caller made, or all of the organization',
    query: {
      active: param.boolean(),
      ...pageQuery,
      ...byCreation,
      limit: param.int({ min: 1, max: 1000, default: 10 }),
    },
    variables: ({ query }) => ({ active: query.active, ...pageOf(query) }),
    select: ({ webhooks: { meta, data } }) => ({ has_more: meta.pagination.hasMore, data }),
  }),
  route(CreateWebhookDocument, {
    method: 'POST',
    path: '/v1/webhooks',
    tags,
    summary: 'Subscribe a URL to events; the secret is shown this once',
    body: { variable: 'input', readOnly },
    status: 201,
    responseHeaders: ({ createWebhook }) => ({
      location: `/v1/webhooks/${createWebhook.id}`,
      ...neverStored(),
    }),
  }),
  route(GetWebhookDocument, {
    method: 'GET',
    path: '/v1/webhooks/:id',
    tags,
    summary: 'One webhook, without its secret',
    variables: ({ params }) => ({ id: params.id }),
  }),
  route(UpdateWebhookDocument, {
    method: 'PUT',
    path: '/v1/webhooks/:id',
    tags,
    summary: 'Change a webhook; what is absent stays, and so does the secret',
    body: { variable: 'input', readOnly },
    variables: ({ params, body }) => ({ id: params.id, input: body }),
  }),
  route(DeleteWebhookDocument, {
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    tags,
    summary: 'Stop all further events and cancel pending deliveries',
    variables: ({ params }) => ({ id: params.id }),
    response: 'none',
    status: 204,
  }),
  route(TestWebhookDocument, {
    method: 'POST',
    path: '/v1/webhooks/:id/test',
    tags,
    summary: 'Send webhook.test once and wait for the outcome; 200 also when the receiver failed',
    body: { type: 'none' },
    variables: ({ params }) => ({ id: params.id }),
    status: 200,
  }),
  route(ListWebhookDeliveriesDocument, {
    method: 'GET',
    path: '/v1/webhooks/:id/deliveries',
    tags,
    summary: 'What was sent to a webhook, the newest first',
    query: {
      status: param.oneOf(['delivered', 'failed', 'pending']),
      event_type: param.string(),
      ...pageQuery,
      ...byCreation,
      limit: param.int({ min: 1, max: 1000, default: 20 }),
    },
    variables: ({ params, query }) => ({
      webhookId: params.id,
      status: query.status,
      eventType: query.event_type,
      ...pageOf(query),
    }),
    nulls: { 'data.attempts': 'omit' },
  }),
  route(RedeliverWebhookDocument, {
    method: 'POST',
    path: '/v1/webhooks/:id/deliveries/:deliveryId/redeliver',
    tags,
    summary: 'Send the event of a delivery once more, as a delivery of its own',
    body: { type: 'none' },
    variables: ({ params }) => ({ id: params.id, deliveryId: params.deliveryId }),
    nulls: { attempts: 'omit' },
    status: 200,
  }),
  route(ReplayWebhookDocument, {
    method: 'POST',
    path: '/v1/webhooks/:id/replay',
    tags,
    summary: 'Send once more what the event log holds since a moment',
    body: { variable: 'input' },
    variables: ({ params, body }) => ({ id: params.id, input: body }),
    status: 200,
  }),
]);
