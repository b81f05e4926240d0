import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createContext } from '../../src/context.js';
import { sendTestDelivery } from '../../src/domain/webhooks/index.js';
import { ORGANIZATION_FILTER } from '../../src/entities/tenancy.js';
import { createSecretBox } from '../../src/secret-box.js';
import { eventually } from '../support/eventually.js';
import { newSecret, ORGANIZATION, openWebhookHouse, type WebhookHouse } from './webhook-house.js';

describe('a webhook whose secret was sealed under another key', () => {
  let house: WebhookHouse;
  let sealedSecret: string;

  beforeAll(async () => {
    house = await openWebhookHouse();
    const other = createSecretBox({ secretKey: randomBytes(32).toString('hex'), dataDir: '.' });
    sealedSecret = other.seal(newSecret());
    house.startWorker();
  });
  afterAll(() => house.close());

  it('fails its deliveries and says why, sends nothing unsigned, and the others go on', async () => {
    const { webhook: lost } = await house.webhook({ url: `${house.receiver.url}/lost`, sealedSecret });
    const { webhook: sound } = await house.webhook({ url: `${house.receiver.url}/sound` });
    const tried = async (attempts: number) =>
      (await house.deliveries(lost.id))[0]?.attempts.length === attempts;
    await house.record(['first']);
    for (const attempt of [1, 2, 3]) {
      await eventually(() => tried(attempt));
      house.advance(330_001);
    }
    const [delivery] = await house.settled(lost.id, 1, 'failed');
    const reason = { responseCode: null, error: 'secret unreadable' };
    expect(delivery).toMatchObject({
      attempt: 3,
      responseCode: null,
      attempts: [reason, reason, reason],
    });
    expect((await house.reload(lost)).consecutiveFailures).toBe(1);
    await house.record(['second']);
    await house.settled(sound.id, 2, 'delivered');
    expect(house.receiver.at('/sound')).toHaveLength(2);
    expect(house.receiver.at('/lost')).toEqual([]);
  });

  it('fails its test delivery in the same way, which is no error of the caller', async () => {
    const { webhook } = await house.webhook({ url: `${house.receiver.url}/tested`, sealedSecret });
    const context = createContext({ ...house.services, tenantOrm: house.orm }, 'req_test', {});
    context.em.setFilterParams(ORGANIZATION_FILTER, { organizationId: ORGANIZATION });
    expect(await sendTestDelivery(context, webhook)).toMatchObject({
      status: 'failed',
      responseCode: null,
      attempts: [{ attempt: 1, error: 'secret unreadable' }],
    });
    expect(house.receiver.at('/tested')).toEqual([]);
  });
});
