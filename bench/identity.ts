/**
 * Logins, refreshes and verified requests per second as ratios of the bare cryptography they cannot do without, in
 * one run on one machine. The database is a real one, made for the run.
 */
import { importSource } from '../scripts/import-source.ts';

const { compareIdentity } = await importSource<typeof import('./support/compare-identity.ts')>(
  'bench/support/compare-identity.ts',
);
const { compareServed } = await importSource<typeof import('./support/compare-served.ts')>(
  'bench/support/compare-served.ts',
);
const effort = { rounds: 3, seconds: Number(process.env['SECONDS'] ?? 2) };
for (const line of [...(await compareIdentity(effort)), await compareServed(effort)]) {
  process.stdout.write(`${line}\n`);
}
