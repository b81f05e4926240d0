import { parentPort, workerData } from 'node:worker_threads';
import { AuthorError, Sandbox, type SandboxStart } from './sandbox.js';
import type { SandboxAnswer } from './sandbox-thread.js';

/** The thread of one javascript task, so that an endless loop holds up nothing else and can be ended from outside. */

const sandbox = await answered(
  () => Sandbox.open(workerData as SandboxStart),
  () => ({ lines: '', rows: 0, found: { names: [], unbounded: [] } }),
);
if (sandbox) {
  parentPort?.on('message', (text: string) => {
    void answered(
      async () => sandbox.transform(text),
      (batch) => batch,
    );
  });
}

async function answered<T>(
  work: () => Promise<T>,
  answer: (value: T) => SandboxAnswer,
): Promise<T | undefined> {
  try {
    const value = await work();
    parentPort?.postMessage(answer(value));
    return value;
  } catch (error) {
    if (!(error instanceof AuthorError)) throw error;
    parentPort?.postMessage({ error: error.message, row: error.row } satisfies SandboxAnswer);
    return undefined;
  }
}
