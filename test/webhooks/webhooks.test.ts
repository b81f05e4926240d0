import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditEntry } from '../../src/entities/audit/audit-entry.js';
import { Webhook } from '../../src/entities/webhooks/webhook.js';
import { WebhookDelivery } from '../../src/entities/webhooks/webhook-delivery.js';
import { eventually } from '../support/eventually.js';
import { expectRefused } from './expect-refused.js';
import { startWebhookApp, type WebhookApp } from './webhook-app.js';

let house: WebhookApp;
let app: WebhookApp['app'];
let receiver: WebhookApp['receiver'];
let admin: WebhookApp['admin'];
let em: WebhookApp['em'];
let make: WebhookApp['make'];
let insertDelivery: WebhookApp['insertDelivery'];

beforeAll(async () => {
  house = await startWebhookApp();
  ({ app, receiver, admin, em, make, insertDelivery } = house);
});

afterAll(() => house.close());

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
    expectRefused(await admin('POST', '/v1/webhooks', body), 400, 'VALIDATION_ERROR', { field, constraint });
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
      expectRefused(await admin('PUT', `/v1/webhooks/${id}`, body), 400, 'VALIDATION_ERROR', {
        field,
        constraint,
      });
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

  it('is enabled by a PUT that crosses its being disabled', async () => {
    const { id } = await make();
    let answer: ReturnType<typeof admin> | undefined;
    await em().transactional(async (disabling) => {
      await disabling.nativeUpdate(
        Webhook,
        { id },
        { active: false, consecutiveFailures: 11 },
        { filters: false },
      );
      answer = admin('PUT', `/v1/webhooks/${id}`, { active: true });
      await eventually(async () => {
        const waiting =
          "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
        return (await em().execute<object[]>(waiting)).length === 1;
      });
    });
    expect((await answer)?.body.active).toBe(true);
    const row = await em().findOneOrFail(Webhook, { id }, { filters: false });
    expect(row).toMatchObject({ active: true, consecutiveFailures: 0 });
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
      expectRefused(answer, 404, 'NOT_FOUND', { resource: 'webhook', id });
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
