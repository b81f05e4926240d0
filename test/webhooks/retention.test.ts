import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweepLogJob } from '../../src/jobs/sweep-log.job.js';
import { openWebhookHouse, silent, type WebhookHouse } from './webhook-house.js';

const DAYS = 7;
const INSERT = `
insert into webhook_delivery (id, webhook_id, organization_id, event_id, event_type, status, due_at, created_at)
select 'dlv_' || ? || number, ?, 'org_old', 'evt_' || ? || number, 'ticket.created', ?, ?, ?::timestamptz - make_interval(days => ?, secs => ?)
from generate_series(1, ?::int) as number`;

describe('deliveries that have ended', () => {
  let house: WebhookHouse;

  beforeAll(async () => {
    house = await openWebhookHouse({ retentionDays: DAYS });
  });
  afterAll(() => house.close());

  const far = new Date('2999-01-01');
  const insert = (name: string, webhookId: string, status: string, seconds: number, count = 1) =>
    house.orm.em
      .fork()
      .execute(INSERT, [name, webhookId, name, status, far, house.now(), DAYS, seconds, count]);
  const run = (signal = new AbortController().signal) =>
    sweepLogJob.run({}, { services: house.services, signal, log: silent, attempt: 1 });

  it('leave the log when their days are over, in steps; those that wait never do', async () => {
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/old` });
    await insert('delivered', webhook.id, 'delivered', 1, 2_500);
    await insert('failed', webhook.id, 'failed', 1);
    await insert('waiting', webhook.id, 'pending', 86_400);
    await insert('young', webhook.id, 'delivered', -60);
    const left = async () => (await house.deliveries(webhook.id)).map(({ id }) => id).sort();

    await run(AbortSignal.abort());
    expect(await left()).toHaveLength(2_503);
    await run();
    expect(await left()).toEqual(['dlv_waiting1', 'dlv_young1']);
    house.advance(60_000);
    await run();
    expect(await left()).toEqual(['dlv_waiting1']);
  });
});
