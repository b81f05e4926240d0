import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Organization } from '../../src/entities/identity/organization.js';
import { Webhook } from '../../src/entities/webhooks/webhook.js';
import { eventProblem } from '../../src/events/catalogue.js';
import { eventually } from '../support/eventually.js';
import { type Call, caller } from '../support/rest.js';
import { expectRefused } from './expect-refused.js';
import { startWebhookApp, type WebhookApp } from './webhook-app.js';

let house: WebhookApp;
let receiver: WebhookApp['receiver'];
let admin: Call;
let globexAdmin: Call;

beforeAll(async () => {
  house = await startWebhookApp();
  ({ receiver, admin } = house);
  globexAdmin = caller(house.app.url, await house.app.itsm('admin@globex.test'));
});
afterAll(() => house.close());

interface Shown {
  id: string;
  event_id: string;
  status: string;
}

const log = async (id: string): Promise<Shown[]> =>
  (await admin('GET', `/v1/webhooks/${id}/deliveries?limit=1000`)).body.data;
const eventIdsAt = (path: string) => receiver.at(path).map(({ headers }) => String(headers['webhook-id']));
const oldest = { since: '2000-01-01T00:00:00.000Z' };

describe('redelivering and replaying', () => {
  it('send the same events under ids of their own, as often as asked, to that webhook alone', async () => {
    const { id } = await house.make({ url: `${receiver.url}/one`, events: ['ticket.created'] });
    const other = await house.make({ url: `${receiver.url}/two`, events: ['ticket.created'] });
    for (const title of ['a', 'b']) await admin('POST', '/v1/tickets', { title });
    await eventually(() => receiver.at('/one').length === 2 && receiver.at('/two').length === 2);
    const [newest] = await log(id);
    if (!newest) throw new Error('no delivery');
    const again = await admin('POST', `/v1/webhooks/${id}/deliveries/${newest.id}/redeliver`);
    const third = await admin('POST', `/v1/webhooks/${id}/deliveries/${again.body.id}/redeliver`);
    expect([again.body.event_id, third.body.event_id]).toEqual([newest.event_id, newest.event_id]);
    await eventually(() => receiver.at('/one').length === 4);
    expect(eventIdsAt('/one').filter((event) => event === newest.event_id)).toHaveLength(3);

    const ids = new Set((await log(id)).map(({ event_id }) => event_id));
    const { body } = await admin('POST', `/v1/webhooks/${id}/replay`, {
      ...oldest,
      eventTypes: ['ticket.created'],
    });
    await eventually(() => receiver.at('/one').length === 4 + body.queued);
    // The log holds what was there before the webhook too.
    expect(new Set(eventIdsAt('/one').slice(4)).size).toBe(body.queued);
    expect(eventIdsAt('/one').slice(4)).toEqual(expect.arrayContaining([...ids]));
    const deliveries = await log(id);
    expect(new Set(deliveries.map((delivery) => delivery.id)).size).toBe(4 + body.queued);
    await eventually(async () => (await log(id)).every(({ status }) => status === 'delivered'));
    expect(receiver.at('/two')).toHaveLength(2);
    const [othersOwn] = await log(other.id);
    expectRefused(
      await admin('POST', `/v1/webhooks/${id}/deliveries/${othersOwn?.id}/redeliver`),
      404,
      'NOT_FOUND',
      { resource: 'delivery', id: othersOwn?.id },
    );
    for (const suffix of [`deliveries/${newest.id}/redeliver`, 'replay'])
      expectRefused(
        await globexAdmin('POST', `/v1/webhooks/${id}/${suffix}`, suffix === 'replay' ? oldest : undefined),
        404,
        'NOT_FOUND',
        { resource: 'webhook', id },
      );
    const foreign = await house.make(
      { url: `${receiver.url}/foreign`, events: ['ticket.created'] },
      globexAdmin,
    );
    const replayed = await globexAdmin('POST', `/v1/webhooks/${foreign.id}/replay`, oldest);
    await eventually(() => receiver.at('/foreign').length === replayed.body.queued);
    expect(eventIdsAt('/foreign').filter((event) => ids.has(event))).toEqual([]);
  });

  it('are refused for a test, for an event that left the log, and while the webhook is inactive', async () => {
    const { id } = await house.make({ url: `${receiver.url}/refused` });
    const { body: tested } = await admin('POST', `/v1/webhooks/${id}/test`);
    const gone = await house.insertDelivery(id, { status: 'failed', failedAt: new Date() });
    for (const [delivery, details] of [
      [tested.id, { isTest: true }],
      [gone.id, { eventId: gone.eventId }],
    ])
      expectRefused(
        await admin('POST', `/v1/webhooks/${id}/deliveries/${delivery}/redeliver`),
        409,
        'CONFLICT',
        details,
      );
    await admin('PUT', `/v1/webhooks/${id}`, { active: false });
    expectRefused(await admin('POST', `/v1/webhooks/${id}/replay`, oldest), 409, 'CONFLICT', {
      active: false,
    });
  });

  it('queue 10,000 events by one call, and say where the next one goes on', async () => {
    const em = house.em();
    const { id: organizationId } = await em.findOneOrFail(Organization, { slug: 'acme' });
    const { id } = await house.make({ url: `${receiver.url}/many`, events: ['sla.breached'] });
    const at = new Date('2026-01-01T00:00:00.000Z');
    await em.execute(
      `insert into event (id, seq, organization_id, type, subject_id, payload, timestamp)
       select 'evt_many' || number, -number, ?, 'sla.breached', 'tkt_1', '{}', ?::timestamptz + number * interval '1 ms'
       from generate_series(1, 10003) as number`,
      [organizationId, at],
    );
    const first = await admin('POST', `/v1/webhooks/${id}/replay`, { since: at.toISOString() });
    const beyond = new Date(at.getTime() + 10_001).toISOString();
    expect(first.body).toEqual({ queued: 10_000, next_since: beyond });
    const second = await admin('POST', `/v1/webhooks/${id}/replay`, { since: beyond });
    expect(second.body).toEqual({ queued: 3, next_since: null });
    await admin('DELETE', `/v1/webhooks/${id}`);
  });
});

describe('the eleventh failure', () => {
  it('of a redelivery counts too: it disables, and each administrator gets a file below DATA_DIR', async () => {
    receiver.answer('/broken', (response) => response.writeHead(500).end());
    const { id } = await house.make({
      url: `${receiver.url}/broken`,
      events: ['ticket.created'],
      name: 'Broken',
    });
    await house.em().nativeUpdate(Webhook, { id }, { consecutiveFailures: 10 }, { filters: false });
    await admin('POST', '/v1/tickets', { title: 'broken' });
    await eventually(() => receiver.at('/broken').length === 1);
    const [delivery] = await log(id);
    const { body } = await admin('POST', `/v1/webhooks/${id}/deliveries/${delivery?.id}/redeliver`);
    await eventually(() => receiver.at('/broken').length === 2);
    await eventually(async () => (await log(id)).find((row) => row.id === body.id)?.status === 'pending');
    // Its last attempt is due now.
    const last = `update webhook_delivery set attempt = 2, due_at = now() where id = ? and lease_owner is null and attempt = 1 returning id`;
    await eventually(async () => (await house.em().execute<object[]>(last, [body.id])).length === 1);
    await eventually(async () => (await admin('GET', `/v1/webhooks/${id}`)).body.active === false);
    await eventually(async () =>
      (await house.mails()).some((mail) => mail.includes('Webhook disabled: Broken')),
    );
    const mails = (await house.mails()).filter((mail) => mail.includes('Webhook disabled: Broken'));
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatch(/^To: admin@acme\.test/m);
    expect((await log(id)).every(({ status }) => status === 'failed')).toBe(true);
    const { body: enabled } = await admin('PUT', `/v1/webhooks/${id}`, { active: true });
    expect(enabled.active).toBe(true);
    const row = await house.em().findOneOrFail(Webhook, { id }, { filters: false });
    expect(row).toMatchObject({ consecutiveFailures: 0, disabledReason: null });
  });

  it('is not reached by deliveries of the test operation', async () => {
    const { id } = await house.make({ url: `${receiver.url}/broken` });
    for (let index = 0; index < 12; index += 1) await admin('POST', `/v1/webhooks/${id}/test`);
    const row = await house.em().findOneOrFail(Webhook, { id }, { filters: false });
    expect(row).toMatchObject({ active: true, consecutiveFailures: 0 });
    const sent = JSON.parse(String(receiver.at('/broken').at(-1)?.body));
    expect(sent.type).toBe('webhook.test');
    expect(eventProblem(sent)).toBeUndefined();
  });
});
