import 'reflect-metadata';
import { pino } from 'pino';
import type { Services } from '../../src/context.js';
import { nativePool } from '../../src/database/native-pool.js';
import { createOrm } from '../../src/database/orm.js';
import { startDeliveryWorker } from '../../src/domain/webhooks/index.js';
import { SYSTEM_ROLE } from '../../src/entities/row-security.js';
import { createSequencer } from '../../src/events/sequencer.js';
import { createWakeChannel } from '../../src/events/wake-channel.js';
import { createWebhookSender } from '../../src/integrations/webhooks/webhook-sender.js';
import { createSecretBox } from '../../src/secret-box.js';

/**
 * A process that numbers events and delivers them, for tests that kill it. To be bundled (scripts/import-source.ts).
 *
 *   <database URL> <file of the authority> <allowed hosts> <secret key> <seconds of a lease>
 */
const [databaseUrl = '', caFile, hosts = '', secretKey, leaseSeconds = '15'] = process.argv.slice(2);
const log = pino({ level: 'silent' });
const orm = await createOrm({ databaseUrl, poolSize: 6, role: SYSTEM_ROLE });
const wake = createWakeChannel({ databaseUrl, log });
await wake.connected();
const sequencer = createSequencer({ databaseUrl, wake, log });
const services = {
  orm,
  log,
  wake,
  now: () => new Date(),
  webhookSender: createWebhookSender({ allowedHosts: hosts.split(','), caFile }),
  secrets: createSecretBox({ secretKey, dataDir: '.' }),
  jobs: { enqueue: async () => undefined, healthy: () => true },
} as unknown as Services;
const worker = startDeliveryWorker({
  services,
  pool: await nativePool(orm),
  leaseSeconds: Number(leaseSeconds),
});
process.on('disconnect', () => process.exit(0));
process.on('message', async () => {
  await worker.close(1_000);
  await services.webhookSender.close();
  await sequencer.close();
  await wake.close();
  await orm.close(true);
  process.exit(0);
});
process.send?.('ready');
