import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { AuditEntry } from '../../src/entities/audit/audit-entry.js';
import { newId } from '../../src/entities/ids.js';
import { Webhook } from '../../src/entities/webhooks/webhook.js';
import { WebhookDelivery } from '../../src/entities/webhooks/webhook-delivery.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, type Call, caller } from '../support/rest.js';
import { createCertificateAuthority } from './certificate-authority.js';
import { type Receiver, startReceiver } from './receiver.js';

let directory: string;
let receiver: Receiver;
let app: TestApp;
let admin: Call;
let globexAdmin: Call;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-webhooks-'));
  const ca = await createCertificateAuthority();
  receiver = await startReceiver(await ca.issue({ dns: ['localhost'] }));
  const caFile = path.join(directory, 'ca.pem');
  await writeFile(caFile, ca.cert);
  app = await startTestApp({ WEBHOOK_ALLOWED_HOSTS: receiver.host, WEBHOOK_CA_FILE: caFile });
  admin = caller(app.url, await app.itsm('admin@acme.test'));
  globexAdmin = caller(app.url, await app.itsm('admin@globex.test'));
});

afterAll(async () => {
  await app.close();
  await receiver.close();
  await rm(directory, { recursive: true, force: true });
});

const em = () => app.database.orm.em.fork();

function refused({ status, body }: Answer, expected: number, code: string, details?: object) {
  expect({ status, error: body.error }).toEqual({
    status: expected,
    error: expect.objectContaining({ code, ...(details && { details: expect.objectContaining(details) }) }),
  });
}

/** For one that is sent nothing unless a test says so. */
async function make(more: object = {}, by: Call = admin) {
  const wish = { url: `${receiver.url}/hook`, events: ['webhook.test'], ...more };
  const { status, body } = await by('POST', '/v1/webhooks', wish);
  expect(status).toBe(201);
  return body as { id: string; secret: string; url: string; created_at: string };
}

/** As the delivery of an event leaves it. */
async function insertDelivery(webhookId: string, values: Partial<WebhookDelivery> = {}) {
  const { organizationId } = await em().findOneOrFail(Webhook, { id: webhookId }, { filters: false });
  const writer = em();
  const delivery = writer.create(WebhookDelivery, {
    id: newId('dlv'),
    webhookId,
    organizationId,
    eventId: newId('evt'),
    eventType: 'ticket.created',
    createdAt: new Date(),
    ...values,
  });
  await writer.flush();
  return delivery;
}

describe('a webhook over REST', () => {
  it('is created with a secret that is shown this once and kept sealed', async () => {
    const wish = { url: `${receiver.url}/new`, events: ['ticket.created', 'sla.breached'], name: 'CRM' };
    const { status, body, headers } = await admin('POST', '/v1/webhooks', wish);
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/webhooks/${body.id}`);
    expect(headers.get('cache-control')).toBe('no-store');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(body).toEqual({
      ...wish,
      id: expect.stringMatching(/^whk_[0-9a-hjkmnp-tv-z]{26}$/),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      active: true,
      organization_id: expect.stringMatching(/^org_/),
      created_at: time,
      updated_at: time,
    });
    const { secret, ...shown } = body;
    expect((await admin('GET', `/v1/webhooks/${body.id}`)).body).toEqual(shown);
    expect((await admin('GET', '/v1/webhooks')).body.data).toContainEqual(shown);
    const row = await em().findOneOrFail(Webhook, { id: body.id }, { filters: false });
    expect(JSON.stringify(Object.entries(row))).not.toContain(secret);
    expect(app.services.secrets.open(row.sealedSecret)).toBe(secret);
  });

  it.each([
    [{ url: 'http://example.com/', events: ['*'] }, 'url', 'isHttps'],
    [{ url: 'no url', events: ['*'] }, 'url', 'isUrl'],
    [{ url: '', events: ['*'] }, 'url', 'isNotEmpty'],
    [{ url: `https://example.com/${'x'.repeat(2_048)}`, events: ['*'] }, 'url', 'maxLength'],
    [{ url: 'https://127.0.0.1/', events: ['*'] }, 'url', 'isPublicHost'],
    [{ url: 'https://169.254.169.254/latest', events: ['*'] }, 'url', 'isPublicHost'],
    [{ url: 'https://[::ffff:10.0.0.1]/', events: ['*'] }, 'url', 'isPublicHost'],
    [{ events: ['*'] }, 'url', 'isDefined'],
    [{ url: 'https://receiver.invalid/' }, 'events', 'isDefined'],
    [{ url: 'https://receiver.invalid/', events: [] }, 'events', 'arrayMinSize'],
    [{ url: 'https://receiver.invalid/', events: ['ticket.created', 'ticket.vanished'] }, 'events.1', 'isIn'],
    [{ url: 'https://receiver.invalid/', events: ['*'], active: 'yes' }, 'active', 'isBoolean'],
    [{ url: 'https://receiver.invalid/', events: ['*'], retries: 9 }, 'retries', 'whitelistValidation'],
  ])('is refused as %j', async (body, field, constraint) => {
    refused(await admin('POST', '/v1/webhooks', body), 400, 'VALIDATION_ERROR', { field, constraint });
  });

  it('may have a host that does not resolve yet', async () => {
    const { url } = await make({ url: 'https://receiver.invalid/hook' });
    expect(url).toBe('https://receiver.invalid/hook');
  });

  it('is changed by PUT: absent stays, the event list is replaced, the secret is kept, read-only is ignored', async () => {
    const { id, secret, created_at } = await make({ name: 'before', events: ['ticket.created'] });
    const { body: got } = await admin('GET', `/v1/webhooks/${id}`);
    const back = await admin('PUT', `/v1/webhooks/${id}`, { ...got, secret: 'whsec_mine', id: 'whk_other' });
    expect(back.status).toBe(200);
    expect({ ...back.body, updated_at: got.updated_at }).toEqual(got);
    const changed = await admin('PUT', `/v1/webhooks/${id}`, { events: ['*'], active: false });
    expect(changed.body).toMatchObject({ id, name: 'before', events: ['*'], active: false, created_at });
    expect(changed.body).not.toHaveProperty('secret');
    const row = await em().findOneOrFail(Webhook, { id }, { filters: false });
    expect(app.services.secrets.open(row.sealedSecret)).toBe(secret);
    for (const [body, field, constraint] of [
      [{ url: 'http://localhost/' }, 'url', 'isHttps'],
      [{ url: 'https://10.0.0.1/' }, 'url', 'isPublicHost'],
      [{ events: ['x.y'] }, 'events.0', 'isIn'],
      [{ events: null }, 'events', 'isNotNull'],
      [{ sealed_secret: 'x' }, 'sealed_secret', 'whitelistValidation'],
    ] as const)
      refused(await admin('PUT', `/v1/webhooks/${id}`, body), 400, 'VALIDATION_ERROR', { field, constraint });
  });

  it('begins anew when it is enabled by hand, and ends what waits when it is disabled', async () => {
    const { id } = await make();
    const waiting = await insertDelivery(id, { dueAt: new Date('2999-01-01'), attempt: 1 });
    await admin('PUT', `/v1/webhooks/${id}`, { active: false });
    const ended = await em().findOneOrFail(WebhookDelivery, { id: waiting.id }, { filters: false });
    expect(ended).toMatchObject({ status: 'failed', dueAt: null });
    const disabled = { consecutiveFailures: 11, disabledReason: 'failures', disabledAt: new Date() };
    await em().nativeUpdate(Webhook, { id }, disabled, { filters: false });
    await admin('PUT', `/v1/webhooks/${id}`, { active: true });
    const row = await em().findOneOrFail(Webhook, { id }, { filters: false });
    expect(row).toMatchObject({
      active: true,
      consecutiveFailures: 0,
      disabledReason: null,
      disabledAt: null,
    });
  });

  it('is deleted with an empty answer, and what waited is cancelled', async () => {
    const { id } = await make();
    const waiting = await insertDelivery(id, { dueAt: new Date('2999-01-01') });
    const { status, body } = await admin('DELETE', `/v1/webhooks/${id}`);
    expect({ status, body }).toEqual({ status: 204, body: undefined });
    const cancelled = await em().findOneOrFail(WebhookDelivery, { id: waiting.id }, { filters: false });
    expect(cancelled.status).toBe('failed');
    for (const [method, suffix] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${waiting.id}/redeliver`],
    ] as const) {
      const answer = await admin(
        method,
        `/v1/webhooks/${id}${suffix}`,
        method === 'PUT' ? { active: true } : undefined,
      );
      refused(answer, 404, 'NOT_FOUND', { resource: 'webhook', id });
    }
  });

  it('is written into the audit log without its secret', async () => {
    const { id, secret } = await make({ name: 'audited' });
    await admin('PUT', `/v1/webhooks/${id}`, { name: 'renamed' });
    await admin('DELETE', `/v1/webhooks/${id}`);
    const entries = await em().find(
      AuditEntry,
      { resourceId: id },
      { filters: false, orderBy: { position: 'asc' } },
    );
    expect(entries.map(({ action }) => action)).toEqual([
      'webhook.created',
      'webhook.updated',
      'webhook.deleted',
    ]);
    expect(entries[1]).toMatchObject({ before: { name: 'audited' }, after: { name: 'renamed' } });
    expect(JSON.stringify(entries)).not.toContain(secret);
  });
});

describe('the list of webhooks', () => {
  it('has 10 by default, is filtered by active, and goes on by page and by cursor', async () => {
    const made: string[] = [];
    for (let index = 0; index < 12; index += 1)
      made.unshift((await make({ active: index % 2 === 0 }, globexAdmin)).id);
    const ids = async (query: string) => {
      const { status, body } = await globexAdmin('GET', `/v1/webhooks${query}`);
      expect({ status, keys: Object.keys(body) }).toEqual({ status: 200, keys: ['has_more', 'data'] });
      return { ids: body.data.map(({ id }: { id: string }) => id), more: body.has_more };
    };
    expect(await ids('')).toEqual({ ids: made.slice(0, 10), more: true });
    expect(await ids('?page=2')).toEqual({ ids: made.slice(10), more: false });
    expect(await ids('?limit=1000')).toEqual({ ids: made, more: false });
    expect(await ids(`?limit=5&starting_after=${made[4]}`)).toEqual({ ids: made.slice(5, 10), more: true });
    expect(await ids(`?limit=3&ending_before=${made[3]}`)).toEqual({ ids: made.slice(0, 3), more: false });
    expect(await ids('?active=true')).toEqual({ ids: made.filter((_id, at) => at % 2 === 1), more: false });
    expect(await ids('?active=false&sortOrder=asc&limit=2')).toEqual({
      ids: [made[10], made[8]],
      more: true,
    });
  });

  it.each([
    ['limit=0', 'limit', 'min'],
    ['limit=1001', 'limit', 'max'],
    ['page=0', 'page', 'min'],
    ['active=maybe', 'active', 'isBoolean'],
    ['sortBy=url', 'sortBy', 'isIn'],
    ['starting_after=whk_1', 'starting_after', 'exists'],
    ['starting_after=a&ending_before=b', 'ending_before', 'mutuallyExclusive'],
    ['page=1&starting_after=a', 'page', 'mutuallyExclusive'],
  ])('refuses %s', async (query, field, constraint) => {
    refused(await admin('GET', `/v1/webhooks?${query}`), 400, 'VALIDATION_ERROR', { field, constraint });
  });
});

describe('permissions', () => {
  it('are those of webhooks', async () => {
    const { id } = await make();
    for (const email of ['manager@acme.test', 'agent@acme.test', 'user@acme.test']) {
      const by = caller(app.url, await app.itsm(email));
      for (const [method, where, body] of [
        ['GET', '/v1/webhooks', undefined],
        ['POST', '/v1/webhooks', { url: receiver.url, events: ['*'] }],
        ['GET', `/v1/webhooks/${id}`, undefined],
        ['PUT', `/v1/webhooks/${id}`, { active: false }],
        ['DELETE', `/v1/webhooks/${id}`, undefined],
        ['POST', `/v1/webhooks/${id}/test`, undefined],
        ['GET', `/v1/webhooks/${id}/deliveries`, undefined],
        ['POST', `/v1/webhooks/${id}/replay`, { since: new Date().toISOString() }],
        ['GET', '/v1/events', undefined],
      ] as const)
        refused(await by(method, where, body), 403, 'AUTHORIZATION_ERROR', { requiredRole: 'tenant_admin' });
    }
    refused(await caller(app.url)('GET', '/v1/webhooks'), 401, 'AUTHENTICATION_ERROR');
  });

  it('of the own ones alone reach those alone', async () => {
    const before = await make();
    const { id: colleague } = await admin('POST', '/v1/users', {
      email: `${newId('usr')}@acme.test`,
      name: 'Colleague',
      role: 'tenant_admin',
    }).then(({ body }) => body);
    await em().nativeUpdate(Webhook, { id: before.id }, { createdBy: colleague }, { filters: false });
    const permissions = ['webhooks:manage:own'];
    const { body: key } = await admin('POST', '/v1/api-keys', { name: 'own', permissions });
    const bearer = caller(app.url, { 'x-api-key': key.key });
    const own = await make({}, bearer);
    expect((await bearer('GET', `/v1/webhooks/${own.id}`)).status).toBe(200);
    refused(await bearer('GET', `/v1/webhooks/${before.id}`), 404, 'NOT_FOUND');
    refused(await bearer('DELETE', `/v1/webhooks/${before.id}`), 404, 'NOT_FOUND');
    expect(JSON.stringify((await bearer('GET', '/v1/webhooks?limit=1000')).body)).not.toContain(before.id);
  });
});

describe('a test delivery', () => {
  it('is sent at once and answered with its outcome', async () => {
    const { id } = await make({ url: `${receiver.url}/tried`, active: false });
    const { status, body } = await admin('POST', `/v1/webhooks/${id}/test`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^dlv_/),
      webhook_id: id,
      event_type: 'webhook.test',
      status: 'delivered',
      response_code: 200,
      response_time_ms: expect.any(Number),
      delivered_at: expect.stringMatching(/Z$/),
    });
    const [arrival, ...others] = receiver.at('/tried');
    expect(others).toEqual([]);
    expect(JSON.parse(String(arrival?.body))).toMatchObject({
      type: 'webhook.test',
      payload: { webhook_id: id },
    });
  });

  it('that fails is 200 too, with what was answered or null', async () => {
    receiver.answer('/failing', (response) => response.writeHead(500).end());
    const failing = await make({ url: `${receiver.url}/failing` });
    const answer = await admin('POST', `/v1/webhooks/${failing.id}/test`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'failed', response_code: 500, delivered_at: null });
    const nowhere = await make({ url: 'https://receiver.invalid/' });
    const { status, body } = await admin('POST', `/v1/webhooks/${nowhere.id}/test`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'failed', response_code: null, delivered_at: null });
    const { body: log } = await admin('GET', `/v1/webhooks/${failing.id}/deliveries`);
    expect(log.data).toHaveLength(1);
    expect(log.data[0]).toMatchObject({ event_type: 'webhook.test', status: 'failed', attempt: 1 });
    const row = await em().findOneOrFail(Webhook, { id: failing.id }, { filters: false });
    expect(row.consecutiveFailures).toBe(0);
  });
});

describe('the delivery history', () => {
  it('has the documented fields, nulls and all, and attempts of what failed', async () => {
    const { id } = await make();
    const at = new Date('2026-03-04T05:06:07.000Z');
    const waiting = await insertDelivery(id, { dueAt: new Date('2999-01-01'), createdAt: at });
    const between = await insertDelivery(id, {
      attempt: 1,
      dueAt: new Date('2999-01-01'),
      responseCode: 503,
      responseTimeMs: 12,
      createdAt: new Date(at.getTime() + 1),
    });
    const attempts = [1, 2, 3].map((attempt) => ({
      attempt,
      responseCode: attempt === 2 ? null : 500,
      responseTimeMs: 7,
      attemptedAt: at.toISOString(),
      error: attempt === 2 ? 'ECONNRESET' : null,
    }));
    const failed = await insertDelivery(id, {
      status: 'failed',
      attempt: 3,
      attempts,
      responseCode: 500,
      responseTimeMs: 7,
      failedAt: at,
      createdAt: new Date(at.getTime() + 2),
    });
    const { status, body } = await admin('GET', `/v1/webhooks/${id}/deliveries`);
    expect(status).toBe(200);
    const never = { response_code: null, response_time_ms: null, delivered_at: null, failed_at: null };
    const common = { webhook_id: id, event_type: 'ticket.created', max_attempts: 3 };
    expect(body).toEqual({
      has_more: false,
      data: [
        {
          ...common,
          ...never,
          id: failed.id,
          event_id: failed.eventId,
          status: 'failed',
          response_code: 500,
          response_time_ms: 7,
          attempt: 3,
          next_retry_at: null,
          failed_at: at.toISOString(),
          created_at: '2026-03-04T05:06:07.002Z',
          attempts: attempts.map(({ attempt, responseCode }) => ({
            attempt,
            response_code: responseCode,
            response_time_ms: 7,
            attempted_at: at.toISOString(),
          })),
        },
        {
          ...common,
          ...never,
          id: between.id,
          event_id: between.eventId,
          status: 'pending',
          response_code: 503,
          response_time_ms: 12,
          attempt: 1,
          next_retry_at: '2999-01-01T00:00:00.000Z',
          created_at: '2026-03-04T05:06:07.001Z',
        },
        {
          ...common,
          ...never,
          id: waiting.id,
          event_id: waiting.eventId,
          status: 'pending',
          attempt: 0,
          next_retry_at: null,
          created_at: at.toISOString(),
        },
      ],
    });
  });

  it('has 20 by default, is filtered, and goes on by page and by cursor', async () => {
    const { id } = await make();
    const made: string[] = [];
    for (let index = 0; index < 22; index += 1) {
      const values = index % 2 === 0 ? ({ status: 'delivered' } as const) : { eventType: 'ticket.closed' };
      const dueAt = new Date('2999-01-01');
      made.unshift((await insertDelivery(id, { createdAt: new Date(1e12 + index), dueAt, ...values })).id);
    }
    const ids = async (query: string) => {
      const { body } = await admin('GET', `/v1/webhooks/${id}/deliveries${query}`);
      return { ids: body.data.map((delivery: { id: string }) => delivery.id), more: body.has_more };
    };
    expect(await ids('')).toEqual({ ids: made.slice(0, 20), more: true });
    expect(await ids('?page=2')).toEqual({ ids: made.slice(20), more: false });
    expect(await ids(`?limit=3&starting_after=${made[2]}`)).toEqual({ ids: made.slice(3, 6), more: true });
    expect(await ids(`?limit=2&ending_before=${made[3]}`)).toEqual({ ids: made.slice(1, 3), more: true });
    const odd = made.filter((_id, at) => at % 2 === 0);
    expect(await ids('?status=pending&limit=11')).toEqual({ ids: odd, more: false });
    expect(await ids('?event_type=ticket.closed')).toEqual({ ids: odd, more: false });
    expect(await ids('?status=failed')).toEqual({ ids: [], more: false });
    for (const [query, field, constraint] of [
      ['status=lost', 'status', 'isIn'],
      ['event_type=ticket.lost', 'event_type', 'isIn'],
      ['limit=1001', 'limit', 'max'],
      ['starting_after=dlv_1', 'starting_after', 'exists'],
    ])
      refused(await admin('GET', `/v1/webhooks/${id}/deliveries?${query}`), 400, 'VALIDATION_ERROR', {
        field,
        constraint,
      });
  });
});

describe('sending again', () => {
  it('redelivers one event as a delivery of its own', async () => {
    const { id } = await make({ url: `${receiver.url}/again`, events: ['ticket.created'] });
    const { body: ticket } = await admin('POST', '/v1/tickets', { title: 'again' });
    await eventually(() => receiver.at('/again').length === 1);
    const { body: log } = await admin('GET', `/v1/webhooks/${id}/deliveries`);
    const [first] = log.data;
    const { status, body } = await admin('POST', `/v1/webhooks/${id}/deliveries/${first.id}/redeliver`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ webhook_id: id, event_id: first.event_id, attempt: 0, status: 'pending' });
    expect(body.id).not.toBe(first.id);
    await eventually(() => receiver.at('/again').length === 2);
    const bodies = receiver.at('/again').map((arrival) => String(arrival.body));
    expect(bodies[1]).toBe(bodies[0]);
    expect(JSON.parse(bodies[0] ?? '').payload.id).toBe(ticket.id);
    const absent = newId('dlv');
    refused(await admin('POST', `/v1/webhooks/${id}/deliveries/${absent}/redeliver`), 404, 'NOT_FOUND', {
      id: absent,
    });
    await admin('PUT', `/v1/webhooks/${id}`, { active: false });
    refused(await admin('POST', `/v1/webhooks/${id}/deliveries/${first.id}/redeliver`), 409, 'CONFLICT', {
      active: false,
    });
  });

  it('replays what the log holds since a moment', async () => {
    const { body: ticket } = await admin('POST', '/v1/tickets', { title: 'before the webhook' });
    await eventually(async () => {
      const { body } = await admin('GET', '/v1/events?limit=1');
      return body.data[0]?.payload.id === ticket.id;
    });
    const { id } = await make({
      url: `${receiver.url}/replayed`,
      events: ['ticket.created', 'user.created'],
    });
    const replay = { since: ticket.createdAt, eventTypes: ['ticket.created'] };
    const { status, body } = await admin('POST', `/v1/webhooks/${id}/replay`, replay);
    expect({ status, body }).toEqual({ status: 200, body: { queued: 1, next_since: null } });
    await eventually(() => receiver.at('/replayed').length === 1);
    expect(JSON.parse(String(receiver.at('/replayed')[0]?.body)).payload.id).toBe(ticket.id);
    for (const [wrong, field, constraint] of [
      [{}, 'since', 'isDefined'],
      [{ since: 'yesterday' }, 'since', 'isDateTime'],
      [{ ...replay, eventTypes: ['x.y'] }, 'eventTypes.0', 'isIn'],
    ] as const)
      refused(await admin('POST', `/v1/webhooks/${id}/replay`, wrong), 400, 'VALIDATION_ERROR', {
        field,
        constraint,
      });
  });
});

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
