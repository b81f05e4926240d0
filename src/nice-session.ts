import { writeFileSync } from 'node:fs';

/** The kernel takes one such wish of ordinary users in 100 ms, from all of them together. */
const RETRY_MS = 150;
const MAX_ATTEMPTS = 40;

/**
 * For a process that leads a session (`detached`). Where the kernel groups processes by session (man 7 sched, "The autogroup
 * feature"), niceness counts within a session only, and between sessions this does. Where it does not, or may not be
 * asked, what counts is the niceness that the parent gave to the process.
 */
export function niceAsSession(niceness: number, attempt = 1): void {
  try {
    writeFileSync('/proc/self/autogroup', String(niceness));
  } catch (error) {
    // Otherwise there is no such file, or none that may be written.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || attempt === MAX_ATTEMPTS) return;
    setTimeout(() => niceAsSession(niceness, attempt + 1), RETRY_MS).unref();
  }
}
