import { rm } from 'node:fs/promises';
import { secretsInLogs } from './secrets-in-logs.ts';

/** Ends the server of the run, and fails the run when any server of it logged a secret. */
export default async function globalTeardown(): Promise<void> {
  const { stopTestServer } = globalThis as typeof globalThis & { stopTestServer?: () => Promise<void> };
  await stopTestServer?.();
  const directory = process.env['TEST_LOG_DIR'];
  if (directory === undefined) return;
  const findings = await secretsInLogs(directory);
  await rm(directory, { recursive: true, force: true });
  if (findings.length > 0) throw new Error(`The logs of this run hold secrets:\n${findings.join('\n')}`);
}
