import type { Job } from 'agenda';
import type { Logger } from 'pino';
import type { Services } from '../context.js';
import type { JobDefinition } from './define-job.js';

/** Thrown to Agenda by a job that stopped because its worker ends: another worker does it at once. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

interface Surroundings {
  services: Services;
  ending: AbortSignal;
  log: Logger;
  /** A sign of life for the job's lock. */
  touch(): Promise<void>;
}

/** One job under way: parses, keeps the lock alive, decides whether a failure is repeated. */
export async function runJob(
  definition: JobDefinition,
  job: Job<unknown>,
  { services, ending, log: parent, touch }: Surroundings,
): Promise<void> {
  const attempt = (job.attrs.failCount ?? 0) + 1;
  const log = parent.child({
    job: definition.name,
    jobId: job.attrs._id,
    attempt,
    ...idsOf(job.attrs.data),
  });
  const lock = keepLock(touch, definition.lockLifetimeMs, log);
  const signal = AbortSignal.any([ending, lock.lost]);
  const started = performance.now();
  try {
    await definition.run(job.attrs.data, { services, signal, log, attempt });
    log.debug({ durationMs: Math.round(performance.now() - started) }, 'job done');
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    if (ending.aborted) throw new Interrupted('interrupted: the worker ends', { cause: error });
    const repeated = attempt < definition.retry.attempts;
    log[repeated ? 'warn' : 'error'](
      { err: error },
      repeated ? 'job failed, will be repeated' : 'job failed',
    );
    // Swallowed at last, so that Agenda removes the row: the row the job points at says what became of it.
    if (repeated) throw error;
  } finally {
    await lock.release();
  }
}

/** Milliseconds to the next attempt, null for none; only asked after a failure that runJob() let through. */
export function delayBeforeRetry(definition: JobDefinition, attempt: number, error: Error): number | null {
  if (error instanceof Interrupted) return 0;
  if (attempt >= definition.retry.attempts) return null;
  return definition.retry.firstDelayMs * 2 ** (attempt - 1);
}

/** Three signs of life per lock lifetime; when none got through for that long, another worker may have the job. */
function keepLock(touch: Surroundings['touch'], lockLifetimeMs: number, log: Logger) {
  const lost = new AbortController();
  let lastSign = performance.now();
  let touching = Promise.resolve();
  const timer = setInterval(() => {
    touching = touch().then(
      () => {
        lastSign = performance.now();
      },
      (error) => {
        if (performance.now() - lastSign < lockLifetimeMs || lost.signal.aborted) return;
        log.warn({ err: error }, 'lock of a running job lost');
        lost.abort(new Error('the lock of this job is lost'));
      },
    );
  }, lockLifetimeMs / 3);
  return {
    lost: lost.signal,
    async release() {
      clearInterval(timer);
      await touching;
    },
  };
}

/** Payloads hold ids; anything else has no place in a log. */
function idsOf(payload: unknown): Record<string, string> {
  if (typeof payload !== 'object' || payload === null) return {};
  const ids = Object.entries(payload).filter(
    (entry): entry is [string, string] => /^id$|Id$/.test(entry[0]) && typeof entry[1] === 'string',
  );
  return Object.fromEntries(ids);
}
