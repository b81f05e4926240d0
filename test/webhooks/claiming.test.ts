import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { nativePool } from '../../src/database/native-pool.js';
import { claimDeliveries } from '../../src/domain/webhooks/claim-deliveries.js';
import { queueDeliveries } from '../../src/domain/webhooks/queue-deliveries.js';
import { eventually } from '../support/eventually.js';
import { ORGANIZATION, openWebhookHouse, type WebhookHouse } from './webhook-house.js';

describe('several workers', () => {
  let house: WebhookHouse;
  let pool: Pool;

  beforeAll(async () => {
    house = await openWebhookHouse();
    pool = await nativePool(house.orm);
  });
  afterAll(() => house.close());

  const titles = (count: number) => Array.from({ length: count }, (_, index) => `event ${index}`);
  const numbered = () =>
    eventually(async () => {
      const { rows } = await pool.query('select count(*)::int as left from event where seq is null');
      return rows[0].left === 0;
    });

  it('queue each event once for each webhook, also when one of them dies before its commit', async () => {
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/queued` });
    await house.record(titles(1_200));
    await numbered();
    const dying = await pool.connect();
    await dying.query('begin; select seq from webhook_position for update');
    expect(await queueDeliveries(pool, house.now)).toEqual({ webhookIds: new Set(), more: false });
    await dying.query('rollback');
    dying.release();
    const drain = async () => {
      while ((await queueDeliveries(pool, house.now)).more);
    };
    await Promise.all([drain(), drain(), drain(), drain()]);
    await drain();
    const deliveries = await house.deliveries(webhook.id);
    expect(new Set(deliveries.map(({ eventId }) => eventId)).size).toBe(1_200);
    expect(deliveries).toHaveLength(1_200);
    await house.orm.em.fork().execute('delete from webhook');
    await house.orm.em.fork().execute('delete from webhook_delivery');
  });

  it('never have the same delivery at once', async () => {
    const open = new Set<string>();
    let twice = 0;
    house.receiver.answer('/slow', (response, request) => {
      const id = String(request.headers['webhook-id']);
      if (open.has(id)) twice += 1;
      open.add(id);
      setTimeout(() => {
        open.delete(id);
        response.writeHead(200).end();
      }, 10);
    });
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/slow` });
    const workers = [house.startWorker(), house.startWorker(), house.startWorker()];
    await house.record(titles(400));
    await house.settled(webhook.id, 400, 'delivered');
    expect(house.receiver.at('/slow')).toHaveLength(400);
    expect(twice).toBe(0);
    for (const worker of workers) await worker.close(0);
    await house.orm.em.fork().execute('delete from webhook');
  });

  it('take over what a dead one held, once its lease has run out, as the next attempt', async () => {
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/inherited` });
    await house.record(['inherited']);
    await numbered();
    await queueDeliveries(pool, house.now);
    const request = { trusted: [], others: [webhook.id], quantum: 1, now: house.now() };
    const dead = await claimDeliveries(pool, { ...request, owner: 'dead', leaseSeconds: 1 });
    expect(dead).toMatchObject([{ webhookId: webhook.id, attempt: 1, organizationId: ORGANIZATION }]);
    expect(await claimDeliveries(pool, { ...request, owner: 'other', leaseSeconds: 1 })).toEqual([]);
    const worker = house.startWorker({ leaseSeconds: 1 });
    const [delivery] = await house.settled(webhook.id, 1, 'delivered');
    expect(delivery).toMatchObject({ attempt: 2, maxAttempts: 3 });
    expect(house.receiver.at('/inherited')).toHaveLength(1);
    await worker.close(0);
  });
});
