import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/entities/ids.js';
import { Webhook } from '../../src/entities/webhooks/webhook.js';
import { type Call, caller } from '../support/rest.js';
import { expectRefused } from './expect-refused.js';
import { startWebhookApp, type WebhookApp } from './webhook-app.js';

let house: WebhookApp;
let app: WebhookApp['app'];
let receiver: WebhookApp['receiver'];
let admin: WebhookApp['admin'];
let em: WebhookApp['em'];
let make: WebhookApp['make'];
let globexAdmin: Call;

beforeAll(async () => {
  house = await startWebhookApp();
  ({ app, receiver, admin, em, make } = house);
  globexAdmin = caller(app.url, await app.itsm('admin@globex.test'));
});

afterAll(() => house.close());

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
    expectRefused(await admin('GET', `/v1/webhooks?${query}`), 400, 'VALIDATION_ERROR', {
      field,
      constraint,
    });
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
        expectRefused(await by(method, where, body), 403, 'AUTHORIZATION_ERROR', {
          requiredRole: 'tenant_admin',
        });
    }
    expectRefused(await caller(app.url)('GET', '/v1/webhooks'), 401, 'AUTHENTICATION_ERROR');
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
    expectRefused(await bearer('GET', `/v1/webhooks/${before.id}`), 404, 'NOT_FOUND');
    expectRefused(await bearer('DELETE', `/v1/webhooks/${before.id}`), 404, 'NOT_FOUND');
    expect(JSON.stringify((await bearer('GET', '/v1/webhooks?limit=1000')).body)).not.toContain(before.id);
  });
});
