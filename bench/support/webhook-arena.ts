import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleSource, importSource } from '../../scripts/import-source.ts';
import type { Arena, Ours } from './webhook-posts.ts';

const { startEmbeddedPostgres } = await importSource<
  typeof import('../../src/database/embedded-postgres.js')
>('src/database/embedded-postgres.ts');
export const posts = await importSource<typeof import('./webhook-posts.ts')>(
  'bench/support/webhook-posts.ts',
);

/**
 * Our worker, not yet started, over a database of its own, and a receiver on loopback (https) in a process of its own; all
 * are gone afterwards.
 */
export async function inWebhookArena(
  contest: (ours: Ours, arena: Arena, receiver: ChildProcess) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-bench-'));
  const server = await startEmbeddedPostgres({ dataDir: path.join(directory, 'data') });
  const receiverFile = await bundleSource('bench/support/webhook-receiver.ts');
  const receiver = fork(receiverFile, [], { execArgv: [] });
  try {
    const ca = await posts.createCertificateAuthority();
    receiver.send(await ca.issue({ dns: ['localhost'] }));
    const [address] = (await once(receiver, 'message')) as [Arena['receiver']];
    const arena = { databaseUrl: server.url, directory, authority: ca.cert, receiver: address };
    const ours = await posts.openOurs(arena);
    try {
      await contest(ours, arena, receiver);
    } finally {
      await ours.close();
    }
  } finally {
    receiver.disconnect();
    await server.close();
    await rm(receiverFile);
    await rm(directory, { recursive: true, force: true });
  }
}
