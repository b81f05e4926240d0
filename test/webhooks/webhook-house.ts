import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Services } from '../../src/context.js';
import { nativePool } from '../../src/database/native-pool.js';
import { createOrm } from '../../src/database/orm.js';
import { DELIVERIES_DUE, type DeliveryWorker, startDeliveryWorker } from '../../src/domain/webhooks/index.js';
import { newId } from '../../src/entities/ids.js';
import { SYSTEM_ROLE } from '../../src/entities/row-security.js';
import { Webhook } from '../../src/entities/webhooks/webhook.js';
import { WebhookDelivery } from '../../src/entities/webhooks/webhook-delivery.js';
import type { NewEvent } from '../../src/events/catalogue.js';
import { createSequencer } from '../../src/events/sequencer.js';
import { transactional } from '../../src/events/transaction.js';
import { createWakeChannel } from '../../src/events/wake-channel.js';
import { createWebhookSender } from '../../src/integrations/webhooks/webhook-sender.js';
import { createSecretBox } from '../../src/secret-box.js';
import { created, silent } from '../events/event-house.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type CertificateAuthority, createCertificateAuthority } from './certificate-authority.js';
import { type Receiver, startReceiver } from './receiver.js';

export { silent };
export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
export const ORGANIZATION = 'org_house';

export interface WebhookHouse {
  readonly orm: MikroORM;
  readonly services: Services;
  readonly ca: CertificateAuthority;
  readonly receiver: Receiver;
  /** Moves the clock that decides what is due, and tells the workers. */
  advance(milliseconds: number): void;
  now(): Date;
  startWorker(options?: { leaseSeconds?: number }): DeliveryWorker;
  webhook(values: Partial<Webhook> & { url: string }): Promise<{ webhook: Webhook; secret: string }>;
  /** One ticket.created for each title; resolves with the ids of the events. */
  record(titles: string[], organizationId?: string): Promise<void>;
  recordEvent(event: NewEvent): Promise<void>;
  deliveries(webhookId: string): Promise<WebhookDelivery[]>;
  /** Until all deliveries of the webhook have a status. */
  settled(webhookId: string, count: number, status: WebhookDelivery['status']): Promise<WebhookDelivery[]>;
  reload(webhook: Webhook): Promise<Webhook>;
  close(): Promise<void>;
}

/** Database, event log, receiver and clock around delivery workers, without the server. */
export async function openWebhookHouse(
  options: { answerTimeoutMs?: number; allowReceiver?: boolean; retentionDays?: number } = {},
): Promise<WebhookHouse> {
  const { answerTimeoutMs = 30_000, allowReceiver = true, retentionDays = 30 } = options;
  const database = await createTestDatabase();
  const directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-webhooks-'));
  const ca = await createCertificateAuthority();
  const receiver = await startReceiver(await ca.issue({ dns: ['localhost'] }));
  const caFile = path.join(directory, 'ca.pem');
  await writeFile(caFile, ca.cert);
  const orm = await createOrm({ databaseUrl: database.url, poolSize: 6, role: SYSTEM_ROLE });
  const wake = createWakeChannel({ databaseUrl: database.url, log: silent });
  await wake.connected();
  const sequencer = createSequencer({ databaseUrl: database.url, wake, log: silent });
  const webhookSender = createWebhookSender({
    allowedHosts: allowReceiver ? [receiver.host] : [],
    caFile,
    answerTimeoutMs,
  });
  let clock = Date.parse('2026-03-01T12:00:00.000Z');
  const now = () => new Date(clock);
  const services = {
    orm,
    log: silent,
    config: { webhookDeliveryRetentionDays: retentionDays },
    now,
    wake,
    webhookSender,
    secrets: createSecretBox({ secretKey: 'ab'.repeat(32), dataDir: directory }),
    jobs: { enqueue: async () => undefined, healthy: () => true },
  } as unknown as Services;
  const pool = await nativePool(orm);
  const workers: DeliveryWorker[] = [];

  const house: WebhookHouse = {
    orm: database.orm,
    services,
    ca,
    receiver,
    now,
    advance(milliseconds) {
      clock += milliseconds;
      wake.wake(DELIVERIES_DUE);
    },
    startWorker({ leaseSeconds } = {}) {
      const worker = startDeliveryWorker({ services, pool, ...(leaseSeconds && { leaseSeconds }) });
      workers.push(worker);
      return worker;
    },
    async webhook(values) {
      const secret = newSecret();
      const em = database.orm.em.fork();
      const webhook = em.create(Webhook, {
        id: newId('whk'),
        organizationId: ORGANIZATION,
        events: ['*'],
        sealedSecret: services.secrets.seal(secret),
        createdBy: 'usr_nobody',
        createdAt: now(),
        updatedAt: now(),
        ...values,
      });
      await em.flush();
      return { webhook, secret };
    },
    async record(titles, organizationId = ORGANIZATION) {
      await transactional({ em: database.orm.em.fork(), log: silent, services }, async (unit) => {
        for (const title of titles) unit.record(created(organizationId, title));
      });
    },
    async recordEvent(event) {
      await transactional({ em: database.orm.em.fork(), log: silent, services }, async (unit) =>
        unit.record(event),
      );
    },
    deliveries: (webhookId) =>
      database.orm.em
        .fork()
        .find(WebhookDelivery, { webhookId }, { filters: false, orderBy: { createdAt: 'asc', id: 'asc' } }),
    async settled(webhookId, count, status) {
      const settled = `select count(*)::int as count from webhook_delivery
        where webhook_id = ? and status = ? and lease_owner is null and (attempt > 0 or status = 'failed')`;
      await eventually(async () => {
        const [row] = await database.orm.em.fork().execute<{ count: number }[]>(settled, [webhookId, status]);
        return row?.count === count;
      });
      return house.deliveries(webhookId);
    },
    reload: ({ id }) => database.orm.em.fork().findOneOrFail(Webhook, { id }, { filters: false }),
    async close() {
      for (const worker of workers) await worker.close(0);
      await webhookSender.close();
      await receiver.close();
      await sequencer.close();
      await wake.close();
      await orm.close(true);
      await database.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return house;
}
