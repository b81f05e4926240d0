/**
 * Lists of 25 tickets out of 100,000, over REST and over GraphQL, as ratios of a bare Express + pg server that runs the
 * same SQL and answers the same bytes, in one run on one machine. Build first.
 */
import { importSource } from '../scripts/import-source.ts';

const { compareTicketLists } = await importSource<typeof import('./support/compare-ticket-lists.ts')>(
  'bench/support/compare-ticket-lists.ts',
);
const servers = {
  app: new URL('./support/serve-app.ts', import.meta.url),
  bare: new URL('./support/serve-bare-tickets.ts', import.meta.url),
};
const effort = { rounds: Number(process.env['ROUNDS'] ?? 3), seconds: Number(process.env['SECONDS'] ?? 3) };
for (const line of await compareTicketLists(servers, effort)) process.stdout.write(`${line}\n`);
