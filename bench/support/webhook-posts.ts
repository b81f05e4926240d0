import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PostgresBackend } from '@agendajs/postgres-backend';
import { Agenda as Clock } from 'agenda';
import { Pool } from 'pg';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import type { Services } from '../../src/context.js';
import { migrate } from '../../src/database/migrate.js';
import { nativePool } from '../../src/database/native-pool.js';
import { createOrm } from '../../src/database/orm.js';
import { startDeliveryWorker } from '../../src/domain/webhooks/index.js';
import { newId } from '../../src/entities/ids.js';
import { SYSTEM_ROLE } from '../../src/entities/row-security.js';
import { Webhook } from '../../src/entities/webhooks/webhook.js';
import { newEvent } from '../../src/events/catalogue.js';
import { createSequencer } from '../../src/events/sequencer.js';
import { transactional } from '../../src/events/transaction.js';
import { createWakeChannel } from '../../src/events/wake-channel.js';
import { createWebhookSender } from '../../src/integrations/webhooks/webhook-sender.js';
import { createSecretBox } from '../../src/secret-box.js';

export { createCertificateAuthority } from '../../test/webhooks/certificate-authority.js';

const ORGANIZATION = 'org_bench';
const CONCURRENCY = 32;
const log = pino({ level: 'silent' });

export interface Arena {
  databaseUrl: string;
  directory: string;
  /** PEM. */
  authority: string;
  receiver: { url: string; host: string };
}

export type Ours = Awaited<ReturnType<typeof openOurs>>;

/** Our worker and the event log it follows, with one webhook. */
export async function openOurs({ databaseUrl, directory, authority, receiver }: Arena) {
  const caFile = path.join(directory, 'ca.pem');
  await writeFile(caFile, authority);
  const orm = await createOrm({ databaseUrl, poolSize: 6, role: SYSTEM_ROLE });
  await migrate(orm);
  const wake = createWakeChannel({ databaseUrl, log });
  await wake.connected();
  const sequencer = createSequencer({ databaseUrl, wake, log });
  const secrets = createSecretBox({ secretKey: randomBytes(32).toString('hex'), dataDir: directory });
  const webhookSender = createWebhookSender({ allowedHosts: [receiver.host], caFile });
  const jobs = { enqueue: async () => undefined, healthy: () => true };
  const now = () => new Date();
  const services = { orm, log, wake, now, webhookSender, secrets, jobs } as unknown as Services;
  const em = orm.em.fork();
  em.create(Webhook, {
    id: newId('whk'),
    organizationId: ORGANIZATION,
    url: `${receiver.url}/events`,
    events: ['*'],
    sealedSecret: secrets.seal(`whsec_${randomBytes(32).toString('base64')}`),
    createdBy: 'usr_bench',
    createdAt: now(),
    updatedAt: now(),
  });
  await em.flush();
  const pool = await nativePool(orm);
  let worker: ReturnType<typeof startDeliveryWorker> | undefined;
  return {
    /** In one transaction, numbered before it returns. */
    async record(count: number): Promise<void> {
      await transactional({ em: orm.em.fork(), log, services }, async (unit) => {
        for (let index = 0; index < count; index += 1) unit.record(measured());
      });
    },
    /** Deliveries that wait already: of each webhook, as many of the events as it is said. */
    async backlog(webhooks: number, each: number): Promise<void> {
      await pool.query(
        `with added as (
           insert into webhook select (jsonb_populate_record(model.row, jsonb_build_object('id', 'whk_' || n))).*
           from (select webhook as row from webhook limit 1) model, generate_series(1, $1::int) n
           returning id, organization_id)
         insert into webhook_delivery (id, webhook_id, organization_id, event_id, event_type, due_at, created_at)
         select 'dlv_' || added.id || event.id, added.id, added.organization_id, event.id, event.type, now(), now()
         from added, (select id, type from event limit $2) event`,
        [webhooks, each],
      );
    },
    async left(): Promise<number> {
      const counted = "select count(*)::int as left from webhook_delivery where status = 'pending'";
      return (await pool.query<{ left: number }>(counted)).rows[0]?.left ?? 0;
    },
    async numbered(): Promise<void> {
      const left = 'select exists (select from event where seq is null) as left';
      while ((await pool.query<{ left: boolean }>(left)).rows[0]?.left)
        await new Promise((resolve) => setTimeout(resolve, 20));
    },
    start() {
      worker = startDeliveryWorker({ services, pool });
    },
    async stop() {
      await worker?.close(5_000);
      worker = undefined;
    },
    async close() {
      await worker?.close(5_000);
      await webhookSender.close();
      await sequencer.close();
      await wake.close();
      await orm.close(true);
    },
  };
}

function measured() {
  const fields = { status: 'new', priority: 'low', type: 'task' } as const;
  return newEvent('ticket.created', ORGANIZATION, { id: newId('tkt'), title: 'Measured', ...fields });
}

function envelope(): string {
  const { type, organizationId, payload } = measured();
  const timestamp = new Date().toISOString();
  return JSON.stringify({ id: newId('evt'), type, timestamp, organizationId, payload });
}

async function post(agent: Agent, url: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const { body } = await request(`${url}/events`, {
    method: 'POST',
    headers,
    body: envelope(),
    dispatcher: agent,
  });
  await body.dump();
}

/** What undici does with nothing around it. */
export async function postBare({ authority, receiver }: Arena, count: number): Promise<void> {
  const agent = new Agent({ connect: { ca: authority } });
  let next = 0;
  const poster = async () => {
    while (next++ < count) await post(agent, receiver.url);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, poster));
  await agent.close();
}

/** One job for each delivery, as a queue would have it. */
export async function postByJobs({ databaseUrl, authority, receiver }: Arena, count: number): Promise<void> {
  const agent = new Agent({ connect: { ca: authority } });
  const pool = new Pool({ connectionString: databaseUrl, max: CONCURRENCY });
  pool.on('error', () => undefined);
  const clock = new Clock({
    backend: new PostgresBackend({ pool }),
    defaultConcurrency: CONCURRENCY,
    maxConcurrency: CONCURRENCY,
    defaultLockLifetime: 5_000,
    removeOnComplete: true,
  });
  let done = 0;
  let finish: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    finish = resolve;
  });
  clock.define('deliver', async () => {
    await post(agent, receiver.url);
    done += 1;
    if (done === count) finish();
  });
  await clock.start();
  let next = 0;
  const enqueuer = async () => {
    while (next++ < count) await clock.now('deliver', { number: next });
  };
  await Promise.all(Array.from({ length: 16 }, enqueuer));
  await all;
  await clock.drain(5_000);
  await agent.close();
  await pool.end();
}
