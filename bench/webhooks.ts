import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { inWebhookArena, posts } from './support/webhook-arena.ts';

/**
 * Deliveries per second to one receiver on loopback (https, a process of its own), from the event in the log to the POST,
 * against undici posting the same bodies with nothing around it and against Agenda with one job per delivery; and
 * milliseconds from the return of the commit to the arrival, at one event every 25 ms.
 *
 *   node bench/webhooks.ts
 */
const DELIVERIES = 4_000;
const JOBS = 1_000;
const LATENCIES = 300;
const ROUNDS = 3;

const median = (values: number[]) => percentile(values, 0.5);
const percentile = (values: number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

/** Seconds until the receiver has had so many POSTs. */
async function timed(receiver: ChildProcess, count: number, work: () => unknown): Promise<number> {
  receiver.send({ await: count, tell: false });
  await once(receiver, 'message');
  const arrived = once(receiver, 'message') as Promise<[{ done: number }]>;
  const begun = Number(process.hrtime.bigint());
  await work();
  const [{ done }] = await arrived;
  return (done - begun) / 1e9;
}

async function latencies(receiver: ChildProcess, record: () => Promise<void>): Promise<number[]> {
  receiver.send({ await: -1, tell: true });
  await once(receiver, 'message');
  const milliseconds: number[] = [];
  for (let index = 0; index < LATENCIES; index += 1) {
    const arrived = once(receiver, 'message') as Promise<[{ arrivedAt: number }]>;
    await record();
    const committed = Number(process.hrtime.bigint());
    const [{ arrivedAt }] = await arrived;
    milliseconds.push((arrivedAt - committed) / 1e6);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return milliseconds;
}

await inWebhookArena(async (ours, arena, receiver) => {
  const rates = { ours: [] as number[], bare: [] as number[], jobs: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.bare.push(
      DELIVERIES / (await timed(receiver, DELIVERIES, () => posts.postBare(arena, DELIVERIES))),
    );
    await ours.record(DELIVERIES);
    await ours.numbered();
    rates.ours.push(DELIVERIES / (await timed(receiver, DELIVERIES, () => ours.start())));
    await ours.stop();
    rates.jobs.push(JOBS / (await timed(receiver, JOBS, () => posts.postByJobs(arena, JOBS))));
  }
  ours.start();
  const delays = await latencies(receiver, () => ours.record(1));
  const [rate, bare, jobs] = [rates.ours, rates.bare, rates.jobs].map(median);
  process.stdout.write(
    `deliveries per second: ours ${rate?.toFixed(0)}, bare undici ${bare?.toFixed(0)}, ratio ${((rate ?? 0) / (bare ?? 1)).toFixed(2)} (target 0.5)\n` +
      `against Agenda with a job per delivery, ${jobs?.toFixed(0)}: ratio ${((rate ?? 0) / (jobs ?? 1)).toFixed(2)}\n` +
      `commit to arrival, one event every 25 ms: p50 ${median(delays).toFixed(1)} ms, p99 ${percentile(delays, 0.99).toFixed(1)} ms (target 50)\n`,
  );
});
// Agenda leaves a timer per job behind, of half a lock lifetime.
process.exit(0);
