import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { DeliveryWorker } from '../../src/domain/webhooks/index.js';
import type { WebhookDelivery } from '../../src/entities/webhooks/webhook-delivery.js';
import { eventually } from '../support/eventually.js';
import { openWebhookHouse, type WebhookHouse } from './webhook-house.js';

const dueTime = (delivery: WebhookDelivery | undefined): number => delivery?.dueAt?.getTime() ?? Number.NaN;

describe('delivering events', () => {
  let house: WebhookHouse;
  let worker: DeliveryWorker;

  beforeAll(async () => {
    house = await openWebhookHouse();
    worker = house.startWorker();
  });
  afterEach(() => void house.receiver.arrivals.splice(0));
  afterAll(() => house.close());

  it('sends the envelope once, signed in both ways over the bytes that arrive', async () => {
    const { webhook, secret } = await house.webhook({ url: `${house.receiver.url}/signed?a=b` });
    await house.record(['Zürich ✓ <b>']);
    const [delivery] = await house.settled(webhook.id, 1, 'delivered');
    const [arrival] = house.receiver.at('/signed?a=b');
    if (!arrival) throw new Error('nothing arrived');
    const { body, headers } = arrival;
    expect(headers['x-itsm-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    // The library refuses what is older than five minutes by its own clock, and the tests' clock is held.
    const signed = headers as Record<string, string>;
    const realNow = Date.now;
    Date.now = () => house.now().getTime();
    try {
      expect(new StandardWebhook(secret).verify(body, signed)).toEqual(JSON.parse(body.toString()));
      expect(() => new StandardWebhook(secret).verify(`${body} `, signed)).toThrow(/signature/i);
    } finally {
      Date.now = realNow;
    }
    expect(JSON.parse(body.toString())).toEqual({
      id: delivery?.eventId,
      type: 'ticket.created',
      timestamp: house.now().toISOString(),
      organizationId: 'org_house',
      payload: expect.objectContaining({ title: 'Zürich ✓ <b>', status: 'new' }),
    });
    expect(headers['webhook-id']).toBe(delivery?.eventId);
    expect(headers['content-type']).toBe('application/json');
    expect(delivery).toMatchObject({
      attempt: 1,
      maxAttempts: 3,
      responseCode: 200,
      deliveredAt: house.now(),
      failedAt: null,
      dueAt: null,
      attempts: [{ attempt: 1, responseCode: 200, error: null }],
    });
  });

  it('sends a type to whoever subscribed to it, within the organization, and to nobody else', async () => {
    const url = (path: string) => ({ url: `${house.receiver.url}${path}` });
    await house.webhook({ ...url('/created'), events: ['ticket.closed', 'ticket.created'] });
    await house.webhook({ ...url('/closed'), events: ['ticket.closed'] });
    await house.webhook({ ...url('/foreign'), organizationId: 'org_other' });
    await house.webhook({ ...url('/inactive'), active: false });
    const { webhook } = await house.webhook({ ...url('/all') });
    await house.record(['one', 'two']);
    await house.settled(webhook.id, 2, 'delivered');
    await eventually(() => house.receiver.at('/created').length === 2);
    const paths = new Set(house.receiver.arrivals.map(({ path }) => path));
    expect(['/closed', '/foreign', '/inactive'].filter((path) => paths.has(path))).toEqual([]);
  });

  it('tries three times, about one and five minutes apart and never early, and then says so', async () => {
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/500`, organizationId: 'org_500' });
    house.receiver.answer('/500', (response) => response.writeHead(500).end('no'));
    const count = () => house.receiver.at('/500').length;
    await house.record(['failing'], 'org_500');
    const [first] = await house.settled(webhook.id, 1, 'pending');
    const { webhook: witness } = await house.webhook({
      url: `${house.receiver.url}/witness`,
      organizationId: 'org_witness',
    });
    let witnessed = 0;
    // Claimed in the same round as whatever else is due by then, or in a later one.
    const untouched = async () => {
      const [before] = await house.deliveries(webhook.id);
      await house.record(['meanwhile'], 'org_witness');
      witnessed += 1;
      await house.settled(witness.id, witnessed, 'delivered');
      const [after] = await house.deliveries(webhook.id);
      expect(after).toEqual(before);
    };
    expect(dueTime(first)).toBeGreaterThanOrEqual(house.now().getTime() + 60_000);
    expect(dueTime(first)).toBeLessThanOrEqual(house.now().getTime() + 66_001);
    house.advance(59_999);
    await untouched();
    expect(count()).toBe(1);
    house.advance(6_002);
    await eventually(() => count() === 2);
    await eventually(async () => ((await house.deliveries(webhook.id))[0]?.attempts.length ?? 0) === 2);
    const [second] = await house.deliveries(webhook.id);
    expect(second).toMatchObject({ status: 'pending', attempt: 2, responseCode: 500 });
    expect(dueTime(second)).toBeGreaterThanOrEqual(house.now().getTime() + 300_000);
    house.advance(299_999);
    await untouched();
    expect(count()).toBe(2);
    house.advance(30_002);
    const [last] = await house.settled(webhook.id, 1, 'failed');
    expect(last).toMatchObject({ attempt: 3, failedAt: house.now(), dueAt: null, deliveredAt: null });
    expect(last?.attempts.map(({ attempt, responseCode }) => [attempt, responseCode])).toEqual([
      [1, 500],
      [2, 500],
      [3, 500],
    ]);
    house.advance(3_600_000);
    await untouched();
    expect(count()).toBe(3);
    expect((await house.reload(webhook)).consecutiveFailures).toBe(1);
  });

  it('waits as long as a receiver asks, when that is longer than planned and no more than an hour', async () => {
    const asked: [path: string, retryAfter: string, least: number, most: number][] = [
      ['/soon', '5', 60_000, 66_001],
      ['/later', '900', 900_000, 900_000],
      ['/dated', new Date(house.now().getTime() + 600_000).toUTCString(), 599_000, 600_000],
      ['/hour', '3600', 3_600_000, 3_600_000],
      ['/beyond', '3601', 60_000, 66_001],
      ['/tomorrow', '86400', 60_000, 66_001],
      ['/past', new Date(house.now().getTime() - 600_000).toUTCString(), 60_000, 66_001],
      ['/nonsense', 'soon', 60_000, 66_001],
    ];
    for (const [path, retryAfter, least, most] of asked) {
      house.receiver.answer(path, (response) => response.writeHead(503, { 'retry-after': retryAfter }).end());
      const organizationId = `org${path.replace('/', '_')}`;
      const { webhook } = await house.webhook({ url: house.receiver.url + path, organizationId });
      await house.record(['patience'], organizationId);
      const [delivery] = await house.settled(webhook.id, 1, 'pending');
      const delay = dueTime(delivery) - house.now().getTime();
      expect({ path, inTime: delay >= least && delay <= most, delay }).toMatchObject({ path, inTime: true });
    }
  });

  it('takes a redirect for a failure and does not follow it', async () => {
    const { webhook } = await house.webhook({
      url: `${house.receiver.url}/moved`,
      organizationId: 'org_302',
    });
    house.receiver.answer('/moved', (response) =>
      response.writeHead(307, { location: `${house.receiver.url}/elsewhere` }).end(),
    );
    await house.record(['moved'], 'org_302');
    const [delivery] = await house.settled(webhook.id, 1, 'pending');
    expect(delivery?.responseCode).toBe(307);
    expect(house.receiver.at('/elsewhere')).toEqual([]);
  });

  it('sends internal comments only where the creator may read them', async () => {
    const em = house.orm.em.fork();
    const roles = ['end_user', 'service_desk_agent', 'service_desk_manager', 'tenant_admin'];
    const webhooks = [];
    for (const role of roles) {
      await em.execute(
        `insert into "user" (id, organization_id, email, name, role, created_at, updated_at) values (?, 'org_comments', ?, 'x', ?, now(), now())`,
        [`usr_${role}`, `${role}@comments.test`, role],
      );
      const { webhook } = await house.webhook({
        url: `${house.receiver.url}/${role}`,
        organizationId: 'org_comments',
        createdBy: `usr_${role}`,
      });
      webhooks.push(webhook);
    }
    for (const visibility of ['internal', 'public'] as const)
      await house.recordEvent({
        type: 'comment.added',
        organizationId: 'org_comments',
        subjectId: 'cmt_1',
        payload: {
          id: 'cmt_1',
          ticket_id: 'tkt_1',
          author_id: 'usr_1',
          visibility,
          body: visibility,
          created_at: house.now().toISOString(),
        },
      });
    await eventually(() => house.receiver.arrivals.length === 6);
    for (const webhook of webhooks)
      await eventually(async () => (await house.deliveries(webhook.id)).length > 0);
    const seen = house.receiver.arrivals.map(
      ({ path, body }) => `${path} ${JSON.parse(body.toString()).payload.body}`,
    );
    expect(seen.sort()).toEqual([
      '/end_user public',
      '/service_desk_agent public',
      '/service_desk_manager internal',
      '/service_desk_manager public',
      '/tenant_admin internal',
      '/tenant_admin public',
    ]);
  });

  it('gives back what is under way when it ends, and another worker makes the attempt', async () => {
    const { webhook } = await house.webhook({
      url: `${house.receiver.url}/drained`,
      organizationId: 'org_drain',
    });
    house.receiver.answer('/drained', () => undefined);
    await house.record(['drained'], 'org_drain');
    await eventually(() => house.receiver.at('/drained').length === 1);
    await worker.close(0);
    const [given] = await house.deliveries(webhook.id);
    expect(given).toMatchObject({ status: 'pending', attempt: 0, leaseOwner: null });
    house.receiver.answer('/drained', (response) => response.writeHead(204).end());
    worker = house.startWorker();
    await house.settled(webhook.id, 1, 'delivered');
    expect(house.receiver.at('/drained')).toHaveLength(2);
  });
});
