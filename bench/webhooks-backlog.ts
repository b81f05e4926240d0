import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bundleSource, importSource } from '../scripts/import-source.ts';

/**
 * A worker's memory and pace with 1,000,000 deliveries waiting, of 200 webhooks: what it keeps must not depend on what waits.
 *
 *   node bench/webhooks-backlog.ts [seconds=40]
 */
const WEBHOOKS = 200;
const EACH = 5_000;
const STEP_SECONDS = 5;
const seconds = Number(process.argv[2] ?? 40);

const { startEmbeddedPostgres } = await importSource<typeof import('../src/database/embedded-postgres.js')>(
  'src/database/embedded-postgres.ts',
);
const posts = await importSource<typeof import('./support/webhook-posts.ts')>(
  'bench/support/webhook-posts.ts',
);

const megabytes = () => Math.round(process.memoryUsage().rss / 1e6);
const directory = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-bench-backlog-'));
const server = await startEmbeddedPostgres({ dataDir: path.join(directory, 'data') });
const receiverFile = await bundleSource('bench/support/webhook-receiver.ts');
const receiver = fork(receiverFile, [], { execArgv: [] });
try {
  const ca = await posts.createCertificateAuthority();
  receiver.send(await ca.issue({ dns: ['localhost'] }));
  const [address] = (await once(receiver, 'message')) as [{ url: string; host: string }];
  const ours = await posts.openOurs({
    databaseUrl: server.url,
    directory,
    authority: ca.cert,
    receiver: address,
  });
  await ours.record(EACH);
  await ours.numbered();
  await ours.backlog(WEBHOOKS, EACH);
  let left = await ours.left();
  const before = megabytes();
  process.stdout.write(`${left} deliveries wait, ${before} MB before the worker starts\n`);
  ours.start();
  let most = before;
  for (let second = STEP_SECONDS; second <= seconds; second += STEP_SECONDS) {
    await delay(STEP_SECONDS * 1_000);
    const now = await ours.left();
    most = Math.max(most, megabytes());
    process.stdout.write(`${second} s: ${Math.round((left - now) / STEP_SECONDS)}/s, ${megabytes()} MB\n`);
    left = now;
  }
  await ours.close();
  process.stdout.write(`at most ${most - before} MB more than before\n`);
} finally {
  receiver.disconnect();
  await server.close();
  await rm(receiverFile);
  await rm(directory, { recursive: true, force: true });
}
process.exit(0);
