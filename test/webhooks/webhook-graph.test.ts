import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.js';
import type { Call } from '../support/rest.js';
import { startWebhookApp, type WebhookApp } from './webhook-app.js';

let house: WebhookApp;
let app: WebhookApp['app'];
let receiver: WebhookApp['receiver'];
let admin: WebhookApp['admin'];
let make: WebhookApp['make'];
let insertDelivery: WebhookApp['insertDelivery'];

beforeAll(async () => {
  house = await startWebhookApp();
  ({ app, receiver, admin, make, insertDelivery } = house);
});

afterAll(() => house.close());

describe('webhooks over GraphQL', () => {
  const ask = async (query: string, variables: object = {}, by: Call = admin) =>
    (await by('POST', '/graphql', { query, variables })).body;

  it('have the same operations', async () => {
    const input = { url: `${receiver.url}/graph`, events: ['ticket.updated'], name: 'graph' };
    const created = await ask(
      'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { id secret active createdBy } }',
      { input },
    );
    const { id, secret } = created.data.createWebhook;
    expect(secret).toMatch(/^whsec_/);
    const changed = await ask(
      `mutation ($id: ID!) {
        updateWebhook(id: $id, input: { events: ["*"], name: null }) { id name events consecutiveFailures }
      }`,
      { id },
    );
    expect(changed.data.updateWebhook).toEqual({ id, name: null, events: ['*'], consecutiveFailures: 0 });
    const tried = await ask(
      'mutation ($id: ID!) { testWebhook(id: $id) { status isTest attempts { attempt } } }',
      {
        id,
      },
    );
    expect(tried.data.testWebhook).toEqual({
      status: 'delivered',
      isTest: true,
      attempts: [{ attempt: 1 }],
    });
    const read = await ask(
      `query ($id: ID!) {
        webhook(id: $id) { id }
        webhooks(limit: 1) { data { id } hasMore meta { pagination { total } } }
        webhookDeliveries(webhookId: $id, eventType: "webhook.test") { hasMore data { webhookId nextRetryAt } }
      }`,
      { id },
    );
    expect(read.data).toMatchObject({
      webhook: { id },
      webhooks: { data: [{ id }] },
      webhookDeliveries: { hasMore: false, data: [{ webhookId: id, nextRetryAt: null }] },
    });
    const unknown = await ask(
      'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }',
      { input: { ...input, events: ['ticket.vanished'] } },
    );
    expect(unknown.errors[0].extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'events.0', constraint: 'isIn' },
    });
    const gone = await ask('mutation ($id: ID!) { deleteWebhook(id: $id) }', { id });
    expect(gone.data).toEqual({ deleteWebhook: true });
    expect(
      (await ask('query ($id: ID!) { webhook(id: $id) { id } }', { id })).errors[0].extensions,
    ).toMatchObject({
      code: 'NOT_FOUND',
      details: { resource: 'webhook', id },
    });
  });

  it('tell of deliveries as they wait, are tried and are delivered', async () => {
    const { id } = await make();
    await insertDelivery(id, { status: 'failed', failedAt: new Date() });
    const waiting = await insertDelivery(id, { dueAt: new Date('2999-01-01') });
    const client = createClient({
      url: `${app.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: await app.itsm('admin@acme.test'),
    });
    const seen: { id: string; status: string }[] = [];
    const query = `subscription { webhookDeliveries(webhookId: "${id}") { id status eventType } }`;
    const errors: unknown[] = [];
    client.subscribe<{ webhookDeliveries: { id: string; status: string } }>(
      { query },
      {
        next: ({ data }) => void (data && seen.push(data.webhookDeliveries)),
        error: (error) => void errors.push(error),
        complete: () => undefined,
      },
    );
    await eventually(() => seen.length === 1);
    expect(seen[0]).toMatchObject({ id: waiting.id, status: 'pending' });
    const { body } = await admin('POST', `/v1/webhooks/${id}/test`);
    await eventually(() => seen.length === 2);
    expect(seen[1]).toMatchObject({ id: body.id, status: 'delivered', eventType: 'webhook.test' });
    await admin('PUT', `/v1/webhooks/${id}`, { active: false });
    await eventually(() => seen.length === 3);
    expect(seen[2]).toMatchObject({ id: waiting.id, status: 'failed' });
    await client.dispose();
    expect(errors).toEqual([]);
  });
});
