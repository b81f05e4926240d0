import { setTimeout as delay } from 'node:timers/promises';
import { inWebhookArena } from './support/webhook-arena.ts';

/**
 * A worker's memory and pace with 1,000,000 deliveries waiting, of 200 webhooks: what it keeps must not depend on what waits.
 *
 *   node bench/webhooks-backlog.ts [seconds=40]
 */
const WEBHOOKS = 200;
const EACH = 5_000;
const STEP_SECONDS = 5;
const seconds = Number(process.argv[2] ?? 40);

const megabytes = () => Math.round(process.memoryUsage().rss / 1e6);
await inWebhookArena(async (ours) => {
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
  process.stdout.write(`at most ${most - before} MB more than before\n`);
});
process.exit(0);
