import '../../../outlive-signals.js';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { FromJudge, ToJudge } from './judge-messages.js';
import { judgeTexts } from './judge-texts.js';

/** The process that parses what authors wrote: a parser that a text brings down does not take the server with it. */

/** For all texts of one question; one that is never answered ends the process (judge-process.ts). */
const LIMIT_MS = 2_000;

const opened = open();

process.on('message', ({ id, texts }: ToJudge) => void answer(id, texts));
process.on('disconnect', () => process.exit());

async function open(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: '256MB',
    threads: '1',
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    enable_external_access: 'false',
  });
  return instance.connect();
}

async function answer(id: number, texts: ToJudge['texts']): Promise<void> {
  const connection = await opened;
  const end = performance.now() + LIMIT_MS;
  const faults = await judgeTexts(connection, texts, () => performance.now() > end);
  if (process.connected) process.send?.({ id, faults } satisfies FromJudge);
}
