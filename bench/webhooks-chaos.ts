import { rm } from 'node:fs/promises';
import { bundleSource, importSource } from '../scripts/import-source.ts';

/**
 * 20,000 events to 3 receivers while workers are killed at random and PostgreSQL is restarted once: what arrived, what
 * came twice, whose signature the library `standardwebhooks` refused. Exit code 1 when anything is missing.
 *
 *   node bench/webhooks-chaos.ts [events]
 */
const events = Number(process.argv[2] ?? 20_000);
const { runChaos } = await importSource<typeof import('../test/webhooks/chaos.js')>('test/webhooks/chaos.ts');

const workerFile = await bundleSource('test/webhooks/delivery-process.ts');
const outcome = await runChaos({
  workerFile,
  events,
  receivers: 3,
  workers: 3,
  kills: 12,
  leaseSeconds: 5,
  patienceMs: 600_000,
}).finally(() => rm(workerFile));
const { kills, restarts, expected, arrived, missing, duplicates, badSignatures, seconds } = outcome;
const share = ((100 * duplicates) / expected).toFixed(2);
process.stdout.write(
  `${events} events to 3 receivers, ${kills} workers killed, ${restarts} restart of PostgreSQL, ${seconds.toFixed(0)} s\n` +
    `arrived ${arrived} of ${expected}, missing ${missing}, twice ${duplicates} (${share} %), refused signatures ${badSignatures}\n`,
);
if (missing > 0 || badSignatures > 0 || duplicates > expected / 100) process.exitCode = 1;
