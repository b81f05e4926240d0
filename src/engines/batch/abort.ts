import { EngineError } from '../engine-error.js';

/** The error an aborted task ends with: TIMEOUT when the signal's reason is a `TimeoutError`, else CANCELLED. */
export function abortError(signal: AbortSignal): EngineError {
  const reason: unknown = signal.reason;
  const name = typeof reason === 'object' && reason !== null && 'name' in reason ? reason.name : '';
  return name === 'TimeoutError'
    ? new EngineError('TIMEOUT', 'The task took longer than its timeout allows.')
    : new EngineError('CANCELLED', 'The task was cancelled.');
}

/** Settles as the work does, or rejects as soon as the signal aborts; the work itself is not stopped. */
export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortError(signal));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Shorter than what engine-process.ts waits for a cancelled task before it kills the process. */
export const CANCEL_TIMEOUT_MS = 1_500;

/** A connection to a database, lent to one task. */
export interface CancellableClient {
  /** Tells the server, over another connection, to end the statement. */
  cancel(): Promise<unknown>;
  cut(): void;
  end(): Promise<unknown>;
}

/**
 * Does the work, then ends the connection. When the task is aborted the server is told to end the statement and the
 * connection is cut, which rolls back whatever was open. That is awaited: the process may end with the task, and the
 * server would go on.
 */
export async function cancelledOnAbort<T>(
  client: CancellableClient,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  let cancelled: Promise<void> | undefined;
  const onAbort = () => {
    cancelled = cancelAndCut(client);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (signal.aborted) await (cancelled ?? client.cut());
    else await client.end().catch(() => undefined);
  }
}

async function cancelAndCut(client: CancellableClient): Promise<void> {
  await rejectOnAbort(client.cancel(), AbortSignal.timeout(CANCEL_TIMEOUT_MS)).catch(() => undefined);
  client.cut();
}
