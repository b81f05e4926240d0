import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createContext, type RequestContext } from '../../src/context.js';
import { sendTestDelivery } from '../../src/domain/webhooks/index.js';
import { ORGANIZATION_FILTER } from '../../src/entities/tenancy.js';
import type { Webhook } from '../../src/entities/webhooks/webhook.js';
import { eventually } from '../support/eventually.js';
import { ORGANIZATION, openWebhookHouse, type WebhookHouse } from './webhook-house.js';

const ELEVEN = Array.from({ length: 11 }, (_, index) => `event ${index}`);

describe('disabling webhooks', () => {
  let house: WebhookHouse;

  beforeAll(async () => {
    house = await openWebhookHouse();
    house.receiver.answer('/down', (response) => response.writeHead(503).end());
    house.startWorker();
    house.startWorker();
    const em = house.orm.em.fork();
    for (const [name, role, active] of [
      ['first', 'tenant_admin', true],
      ['second', 'tenant_admin', true],
      ['gone', 'tenant_admin', false],
      ['agent', 'service_desk_agent', true],
    ] as const)
      await em.execute(
        `insert into "user" (id, organization_id, email, name, role, active, created_at, updated_at) values (?, ?, ?, ?, ?, ?, now(), now())`,
        [`usr_${name}`, ORGANIZATION, `${name}@house.test`, name, role, active],
      );
  });
  afterAll(() => house.close());

  const mails = async (): Promise<string[]> => {
    const rows = await house.orm.em
      .fork()
      .execute<{ sealed_details: string }[]>('select sealed_details from mail order by id');
    return rows.map((row) => JSON.parse(house.services.secrets.open(row.sealed_details)).to);
  };

  async function exhaust(webhook: Webhook, deliveries: number): Promise<void> {
    const answered = async (attempt: number) => {
      const rows = await house.deliveries(webhook.id);
      const done = rows.filter((row) => row.attempts.length >= attempt || row.status === 'failed');
      return done.length >= deliveries;
    };
    for (const [attempt, delay] of [66_001, 330_001, 0].entries()) {
      await eventually(() => answered(attempt + 1));
      house.advance(delay);
    }
  }

  it('ten failed deliveries in a row do not, the eleventh does, with one mail to each active administrator', async () => {
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/down` });
    await house.record(ELEVEN.slice(1));
    await exhaust(webhook, 10);
    await house.settled(webhook.id, 10, 'failed');
    expect(await house.reload(webhook)).toMatchObject({ active: true, consecutiveFailures: 10 });
    expect(await mails()).toEqual([]);

    await house.record(['the eleventh']);
    await exhaust(webhook, 11);
    await house.settled(webhook.id, 11, 'failed');
    expect(await house.reload(webhook)).toMatchObject({
      active: false,
      consecutiveFailures: 11,
      disabledAt: house.now(),
      disabledReason: 'More than 10 deliveries in a row failed',
    });
    expect((await mails()).sort()).toEqual(['first@house.test', 'second@house.test']);
    const audit = await house.orm.em
      .fork()
      .execute(`select resource_id from audit_entry where action = 'webhook.disabled'`);
    expect(audit).toEqual([{ resource_id: webhook.id }]);

    const before = house.receiver.at('/down').length;
    const { webhook: other } = await house.webhook({ url: `${house.receiver.url}/other` });
    await house.record(['afterwards']);
    await house.settled(other.id, 1, 'delivered');
    expect(await house.deliveries(webhook.id)).toHaveLength(11);
    expect(house.receiver.at('/down')).toHaveLength(before);
    await house.orm.em.fork().execute('delete from webhook');
    await house.orm.em.fork().execute('delete from mail');
  });

  it('many failing at once are still one mail each, and what waited fails with them', async () => {
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/down` });
    await house.record(Array.from({ length: 60 }, (_, index) => `event ${index}`));
    await exhaust(webhook, 60);
    await house.settled(webhook.id, 60, 'failed');
    expect((await house.reload(webhook)).active).toBe(false);
    expect((await mails()).sort()).toEqual(['first@house.test', 'second@house.test']);
    await house.orm.em.fork().execute('delete from webhook');
  });

  it('a success ends the row', async () => {
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/down`, consecutiveFailures: 10 });
    house.receiver.answer('/down', (response) => response.writeHead(200).end());
    await house.record(['up again']);
    await house.settled(webhook.id, 1, 'delivered');
    expect((await house.reload(webhook)).consecutiveFailures).toBe(0);
    house.receiver.answer('/down', (response) => response.writeHead(503).end());
    await house.orm.em.fork().execute('delete from webhook');
  });

  it('what is deleted or deactivated gets no more attempts, however many were waiting', async () => {
    house.receiver.answer('/slow', (response) => void setTimeout(() => response.writeHead(200).end(), 50));
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/slow` });
    await house.record(Array.from({ length: 300 }, (_, index) => `event ${index}`));
    await eventually(() => house.receiver.at('/slow').length > 5);
    await house.orm.em.fork().execute('delete from webhook where id = ?', [webhook.id]);
    await eventually(async () =>
      (await house.deliveries(webhook.id)).every((row) => row.status !== 'pending'),
    );
    const count = house.receiver.at('/slow').length;
    const delivered = (await house.deliveries(webhook.id)).filter((row) => row.status === 'delivered').length;
    expect(count).toBe(delivered);
    expect(count).toBeLessThan(300);
  });

  it('a test delivery is made at once, once, and counts for nothing', async () => {
    const { webhook } = await house.webhook({
      url: `${house.receiver.url}/down`,
      active: false,
      consecutiveFailures: 10,
    });
    const services = { ...house.services, tenantOrm: house.orm };
    const context: RequestContext = createContext(services, 'req_test', {});
    context.em.setFilterParams(ORGANIZATION_FILTER, { organizationId: ORGANIZATION });
    const before = house.receiver.at('/down').length;
    const delivery = await sendTestDelivery(context, webhook);
    expect(delivery).toMatchObject({
      status: 'failed',
      eventType: 'webhook.test',
      responseCode: 503,
      isTest: true,
    });
    const [arrival] = house.receiver.at('/down').slice(before);
    expect(JSON.parse(String(arrival?.body))).toMatchObject({
      id: delivery.eventId,
      type: 'webhook.test',
      payload: { webhook_id: webhook.id },
    });
    house.advance(3_600_000);
    const { webhook: other } = await house.webhook({ url: `${house.receiver.url}/other` });
    await house.record(['meanwhile']);
    await house.settled(other.id, 1, 'delivered');
    expect(house.receiver.at('/down')).toHaveLength(before + 1);
    expect(await house.reload(webhook)).toMatchObject({ consecutiveFailures: 10 });
  });
});
