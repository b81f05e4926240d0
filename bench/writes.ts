/**
 * Creating a ticket and starting a run over REST, as ratios of a bare Express + pg server that runs the same
 * statements in one transaction, in one run on one machine. Build first.
 */
import { importSource } from '../scripts/import-source.ts';

const { compareWrites } = await importSource<typeof import('./support/compare-writes.ts')>(
  'bench/support/compare-writes.ts',
);
const servers = {
  app: new URL('./support/serve-app.ts', import.meta.url),
  bare: new URL('./support/serve-bare-writes.ts', import.meta.url),
};
const effort = { rounds: Number(process.env['ROUNDS'] ?? 3), seconds: Number(process.env['SECONDS'] ?? 3) };
for (const line of await compareWrites(servers, effort)) process.stdout.write(`${line}\n`);
