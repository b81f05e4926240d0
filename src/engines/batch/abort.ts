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
