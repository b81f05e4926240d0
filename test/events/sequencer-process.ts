import { pino } from 'pino';
import { importSource } from '../../scripts/import-source.ts';

/** A node that only numbers events, for tests that kill it. */
const { createSequencer } =
  await importSource<typeof import('../../src/events/sequencer.js')>('src/events/sequencer.ts');
createSequencer({
  databaseUrl: process.argv[2] ?? '',
  wake: { wake: () => undefined, on: () => () => undefined },
  log: pino({ level: 'silent' }),
});
