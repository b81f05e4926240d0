import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../../src/entities/ids.js';
import { Webhook } from '../../src/entities/webhooks/webhook.js';
import { WebhookDelivery } from '../../src/entities/webhooks/webhook-delivery.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Call, caller } from '../support/rest.js';
import { createCertificateAuthority } from './certificate-authority.js';
import { type Receiver, startReceiver } from './receiver.js';

export interface CreatedWebhook {
  id: string;
  secret: string;
  url: string;
  created_at: string;
}

export interface WebhookApp {
  readonly app: TestApp;
  readonly receiver: Receiver;
  readonly admin: Call;
  em(): EntityManager;
  /** One that is sent nothing unless a test says so. */
  make(more?: object, by?: Call): Promise<CreatedWebhook>;
  /** As the work on an event leaves it. */
  insertDelivery(webhookId: string, values?: Partial<WebhookDelivery>): Promise<WebhookDelivery>;
  /** What would have been sent, oldest first. */
  mails(): Promise<string[]>;
  close(): Promise<void>;
}

/** The whole server, allowed to send to a receiver on loopback. */
export async function startWebhookApp(): Promise<WebhookApp> {
  const directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-webhooks-'));
  const ca = await createCertificateAuthority();
  const receiver = await startReceiver(await ca.issue({ dns: ['localhost'] }));
  const caFile = path.join(directory, 'ca.pem');
  await writeFile(caFile, ca.cert);
  const app = await startTestApp({ WEBHOOK_ALLOWED_HOSTS: receiver.host, WEBHOOK_CA_FILE: caFile });
  const admin = caller(app.url, await app.itsm('admin@acme.test'));
  const em = () => app.database.orm.em.fork();
  return {
    app,
    receiver,
    admin,
    em,
    async make(more = {}, by = admin) {
      const wish = { url: `${receiver.url}/hook`, events: ['webhook.test'], ...more };
      const { status, body } = await by('POST', '/v1/webhooks', wish);
      if (status !== 201) throw new Error(`A webhook was not made: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    async insertDelivery(webhookId, values = {}) {
      const { organizationId } = await em().findOneOrFail(Webhook, { id: webhookId }, { filters: false });
      const writer = em();
      const delivery = writer.create(WebhookDelivery, {
        id: newId('dlv'),
        webhookId,
        organizationId,
        eventId: newId('evt'),
        eventType: 'ticket.created',
        createdAt: new Date(),
        ...values,
      });
      await writer.flush();
      return delivery;
    },
    async mails() {
      const directory = path.join(app.dataDir, 'mail');
      const files = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.eml'));
      return Promise.all(files.sort().map((name) => readFile(path.join(directory, name), 'utf8')));
    },
    async close() {
      await app.close();
      await receiver.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
