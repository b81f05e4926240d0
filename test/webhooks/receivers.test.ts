import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { vetWebhookUrl } from '../../src/domain/webhooks/index.js';
import type { Webhook } from '../../src/entities/webhooks/webhook.js';
import type { WebhookDelivery } from '../../src/entities/webhooks/webhook-delivery.js';
import { ANSWER_TIMEOUT_MS, createWebhookSender } from '../../src/integrations/webhooks/webhook-sender.js';
import { eventually } from '../support/eventually.js';
import { createCertificateAuthority } from './certificate-authority.js';
import { startReceiver } from './receiver.js';
import { openWebhookHouse, type WebhookHouse } from './webhook-house.js';

const PATIENCE_MS = 600;

describe('receivers that behave badly', () => {
  let house: WebhookHouse;
  const closers: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    house = await openWebhookHouse({ answerTimeoutMs: PATIENCE_MS });
    house.startWorker();
  });
  afterAll(async () => {
    for (const close of closers) await close();
    await house.close();
  });

  /** Each in an organization of its own. */
  async function deliver(
    path: string,
    status: WebhookDelivery['status'],
    url = house.receiver.url + path,
  ): Promise<{ webhook: Webhook; delivery: WebhookDelivery }> {
    const organizationId = `org${path.replaceAll('/', '_')}`;
    const { webhook } = await house.webhook({ url, organizationId });
    await house.record(['badly'], organizationId);
    const [delivery] = await house.settled(webhook.id, 1, status);
    if (!delivery) throw new Error('no delivery');
    return { webhook, delivery };
  }

  it('waits 30 s for a status line', () => expect(ANSWER_TIMEOUT_MS).toBe(30_000));

  it('one that hangs costs an attempt without a code, and its connection is closed', async () => {
    let closed = 0;
    house.receiver.answer('/hang', (_response, request) => request.socket.on('close', () => (closed += 1)));
    const { delivery } = await deliver('/hang', 'pending');
    expect(delivery).toMatchObject({
      responseCode: null,
      attempts: [{ attempt: 1, responseCode: null, error: 'no answer in time' }],
    });
    expect(delivery.responseTimeMs).toBeGreaterThanOrEqual(PATIENCE_MS - 5);
    await eventually(() => closed === 1);
  });

  it('a body that never ends costs a second of a connection, and nobody waits for it', async () => {
    let closed = 0;
    house.receiver.answer('/drip', (response, request) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 20);
      request.socket.on('close', () => {
        clearInterval(timer);
        closed += 1;
      });
    });
    const { delivery } = await deliver('/drip', 'delivered');
    expect(delivery.responseTimeMs).toBeLessThan(PATIENCE_MS);
    await eventually(() => closed === 1, 5_000);
  });

  it('of a huge body no more is taken than what was on its way', async () => {
    let sent = 0;
    let closed = false;
    house.receiver.answer('/huge', (response, request) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536);
      const more = () => {
        while (!closed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
      };
      request.socket.on('close', () => {
        closed = true;
      });
      more();
    });
    await deliver('/huge', 'delivered');
    await eventually(() => closed, 5_000);
    // What both kernels buffer; without a limit a second brings hundreds of megabytes.
    expect(sent).toBeLessThan(16 * 1_048_576);
  });

  it('a reset connection is a failure without a code', async () => {
    house.receiver.answer('/reset', (_response, request) => void request.socket.destroy());
    const { delivery } = await deliver('/reset', 'pending');
    expect(delivery.attempts).toEqual([
      expect.objectContaining({
        responseCode: null,
        error: expect.stringMatching(/^(ECONNRESET|UND_ERR_SOCKET)$/),
      }),
    ]);
  });

  it('nothing is sent to whoever has no certificate for the name, by an authority we trust', async () => {
    const stranger = await createCertificateAuthority();
    const pairs = {
      untrusted: await stranger.issue({ dns: ['localhost'] }),
      'other-name': await house.ca.issue({ dns: ['receiver.test'] }),
    };
    for (const [name, pair] of Object.entries(pairs)) {
      const receiver = await startReceiver(pair);
      closers.push(receiver.close);
      const sender = createWebhookSender({ allowedHosts: [receiver.host], caFile: undefined });
      closers.push(sender.close);
      const outcome = await sender.post({ url: receiver.url, headers: {}, body: Buffer.from('{}') });
      expect(outcome).toMatchObject({ status: null, error: expect.stringMatching(/CERT|SIGNATURE/) });
      expect([name, receiver.arrivals]).toEqual([name, []]);
    }
  });

  it('nothing connects to a private address, whether it is written or looked up, whatever was registered', async () => {
    const sender = createWebhookSender({ allowedHosts: [], caFile: undefined });
    closers.push(sender.close);
    const port = house.receiver.host.split(':')[1];
    const post = (url: string) => sender.post({ url, headers: {}, body: Buffer.from('{}') });
    const before = house.receiver.connections();
    expect(await post(`https://localhost:${port}/`)).toMatchObject({
      status: null,
      error: 'PRIVATE_ADDRESS',
    });
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0x7f000001', '2130706433'])
      expect(await post(`https://${host}:${port}/`)).toMatchObject({ error: 'not a public address' });
    expect(await post(`http://${house.receiver.host}/`)).toMatchObject({ error: 'not https' });
    expect(house.receiver.connections()).toBe(before);
  });
});

describe('isolation between receivers', () => {
  let house: WebhookHouse;

  beforeAll(async () => {
    house = await openWebhookHouse();
    house.startWorker();
  });
  afterAll(() => house.close());

  it('those that hang on every call do not delay the others', async () => {
    house.receiver.answer('/hanger', () => undefined);
    const hangers: Webhook[] = [];
    for (let index = 0; index < 40; index += 1)
      hangers.push((await house.webhook({ url: `${house.receiver.url}/hanger` })).webhook);
    const titles = (count: number) => Array.from({ length: count }, (_, index) => `event ${index}`);
    await house.record(titles(100));
    await eventually(() => house.receiver.at('/hanger').length === 80);

    const { webhook } = await house.webhook({ url: `${house.receiver.url}/quick` });
    await house.record(titles(200));
    await house.settled(webhook.id, 200, 'delivered');
    expect(house.receiver.at('/quick')).toHaveLength(200);
    expect(house.receiver.at('/hanger')).toHaveLength(80);
  });

  it('a long queue of one does not delay the few of others', async () => {
    const backlog = await house.webhook({ url: `${house.receiver.url}/backlog`, organizationId: 'org_long' });
    await house.orm.em.fork().execute(
      `insert into webhook_delivery (id, webhook_id, organization_id, event_id, event_type, generation, due_at, created_at)
       select 'dlv_' || number, ?, 'org_long', event.id, event.type, number, ?, ?
       from generate_series(1, 50000) as number, (select * from event limit 1) as event`,
      [backlog.webhook.id, house.now(), house.now()],
    );
    house.advance(0);
    await eventually(() => house.receiver.at('/backlog').length > 100);
    const few = [];
    for (let index = 0; index < 20; index += 1)
      few.push(
        (await house.webhook({ url: `${house.receiver.url}/few`, organizationId: 'org_few' })).webhook,
      );
    const begun = performance.now();
    await house.record(['one each'], 'org_few');
    await eventually(() => house.receiver.at('/few').length === 20);
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(house.receiver.at('/backlog').length).toBeLessThan(49_000);
  });
});

describe('vetWebhookUrl', () => {
  const webhookSender = createWebhookSender({
    allowedHosts: ['inside.test', 'localhost:9443'],
    caFile: undefined,
  });
  const problem = async (url: string) => {
    try {
      await vetWebhookUrl({ webhookSender }, url);
      return undefined;
    } catch (error) {
      return (error as { details?: { field: string; constraint: string } }).details;
    }
  };
  afterAll(() => webhookSender.close());

  it.each([
    ['no url', 'isUrl'],
    ['http://receiver.example/', 'isHttps'],
    ['ftp://receiver.example/', 'isHttps'],
    ['http://inside.test/', 'isHttps'],
    ['https://127.0.0.1/', 'isPublicHost'],
    ['https://10.1.2.3/', 'isPublicHost'],
    ['https://172.16.0.1/', 'isPublicHost'],
    ['https://192.168.1.1/', 'isPublicHost'],
    ['https://169.254.169.254/latest', 'isPublicHost'],
    ['https://100.64.0.1/', 'isPublicHost'],
    ['https://0.0.0.0/', 'isPublicHost'],
    ['https://0x7f.1/', 'isPublicHost'],
    ['https://[::1]/', 'isPublicHost'],
    ['https://[fd00::1]/', 'isPublicHost'],
    ['https://[fe80::1]/', 'isPublicHost'],
    ['https://[::ffff:10.0.0.1]/', 'isPublicHost'],
    ['https://[64:ff9b::a00:1]/', 'isPublicHost'],
    ['https://localhost/', 'isPublicHost'],
  ])('refuses %s', async (url, constraint) => {
    expect(await problem(url)).toMatchObject({ field: 'url', constraint });
  });

  it.each([
    'https://8.8.8.8/',
    'https://does-not-resolve.invalid/',
    'https://inside.test/',
    'https://localhost:9443/',
  ])('takes %s', async (url) => expect(await problem(url)).toBeUndefined());
});
