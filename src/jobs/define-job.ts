import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Services } from '../context.js';

export interface JobTools {
  services: Services;
  /** Aborted when the process is to end or the lock was lost; whoever ignores it runs beside the next attempt. */
  signal: AbortSignal;
  log: Logger;
  /** 1 the first time; a repetition after a lost worker does not count. */
  attempt: number;
}

/** How often a failed job is done again: after `firstDelayMs`, then twice as long each time. */
export interface JobRetry {
  attempts: number;
  firstDelayMs: number;
}

export interface JobDefinition {
  readonly name: string;
  /** How many of them one worker runs at a time; at most, and by default, the worker's own concurrency. */
  readonly concurrency: number | undefined;
  /** May take hours: a worker with several places keeps one free of such jobs, so that mails need not wait for them. */
  readonly isLong: boolean;
  /** A cron expression, or milliseconds between two runs; one run at a time over all workers. */
  readonly every: string | number | undefined;
  readonly lockLifetimeMs: number;
  readonly retry: JobRetry;
  /** @throws TypeError naming the job and the field */
  check(payload: unknown): void;
  /** @throws TypeError naming the job and the field, or what the job threw */
  run(payload: unknown, tools: JobTools): Promise<void>;
}

const MIN_LOCK_LIFETIME_MS = 1_000;
/** What a dead worker had begun lies idle for as long. */
const MAX_LOCK_LIFETIME_MS = 10_000;
const ONCE: JobRetry = { attempts: 1, firstDelayMs: 0 };

/**
 * A job points at a row and runs at least once: after a crash or an outage a second time, so that it must be safe to
 * repeat. `lockLifetimeMs` is how long after the death of its worker another one takes it over; a living worker keeps
 * its lock however long the job takes. The payload must survive JSON and hold ids, not data.
 */
export function defineJob<Schema extends z.ZodType>(specification: {
  name: string;
  payload: Schema;
  concurrency?: number;
  isLong?: boolean;
  every?: string | number;
  lockLifetimeMs: number;
  retry?: JobRetry;
  run(payload: z.output<Schema>, tools: JobTools): Promise<void>;
}): JobDefinition {
  const {
    name,
    payload: schema,
    concurrency,
    isLong = false,
    every,
    lockLifetimeMs,
    retry = ONCE,
    run,
  } = specification;
  if (lockLifetimeMs < MIN_LOCK_LIFETIME_MS || lockLifetimeMs > MAX_LOCK_LIFETIME_MS)
    throw new TypeError(
      `Job ${name}: lockLifetimeMs must be ${MIN_LOCK_LIFETIME_MS} to ${MAX_LOCK_LIFETIME_MS}`,
    );
  const parse = (payload: unknown): z.output<Schema> => {
    const parsed = schema.safeParse(payload);
    if (parsed.success) return parsed.data;
    const sentences = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`,
    );
    throw new TypeError(`Job ${name}: ${sentences.join('; ')}`);
  };
  // A recurring job has nobody who would give it a payload.
  if (every !== undefined) parse({});
  return {
    name,
    concurrency,
    isLong,
    every,
    lockLifetimeMs,
    retry,
    check: (payload) => void parse(payload),
    run: async (payload, tools) => run(parse(payload), tools),
  };
}
