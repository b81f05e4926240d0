/** Milliseconds after the failure of attempt 1, of attempt 2 (ITSM document, Limits: about 1 and about 5 minutes). */
const retryDelaysMs: readonly number[] = [60_000, 300_000];
/** Added, never taken away, so that the receivers of one outage are not all asked in the same second. */
const JITTER = 0.1;
/** A receiver may ask for more patience than planned, within reason. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * When the attempt after this one begins.
 * @param attempt the one that failed, from 1
 * @param retryAfter RFC 9110 section 10.2.3: seconds or an HTTP date
 */
export function nextAttemptAt(attempt: number, failedAt: Date, retryAfter: string | undefined): Date {
  const delay = retryDelaysMs[Math.min(attempt, retryDelaysMs.length) - 1] ?? 0;
  const planned = failedAt.getTime() + Math.ceil(delay * (1 + Math.random() * JITTER));
  const asked = retryAfterTime(retryAfter, failedAt);
  const isReasonable = asked > planned && asked <= failedAt.getTime() + MAX_RETRY_AFTER_MS;
  return new Date(isReasonable ? asked : planned);
}

/** Milliseconds since 1970; 0 for none, or one that can't be read. */
function retryAfterTime(value: string | undefined, now: Date): number {
  if (value === undefined) return 0;
  if (/^\d{1,9}$/.test(value.trim())) return now.getTime() + Number(value) * 1000;
  return Date.parse(value) || 0;
}
