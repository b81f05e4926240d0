/**
 * 25 tickets out of 100,000 in process, 16 at a time: how much of a bare pg pool's rate is left when the same list is read
 * through the tenancy filters into objects with property names.
 *
 *   node bench/read-rows.ts
 */
import { importSource } from '../scripts/import-source.ts';

const { compareReads } = await importSource<typeof import('./support/compare-reads.ts')>(
  'bench/support/compare-reads.ts',
);
const effort = { rounds: Number(process.env['ROUNDS'] ?? 5), seconds: Number(process.env['SECONDS'] ?? 2) };
for (const line of await compareReads(effort)) process.stdout.write(`${line}\n`);
