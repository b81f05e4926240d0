import { writeFileSync } from 'node:fs';

/**
 * For a process that leads a session (`detached`). Where the kernel groups processes by session (man 7 sched, "The autogroup
 * feature"), niceness counts within a session only, and between sessions this does. Where it does not, or may not be
 * asked, what counts is the niceness that the parent gave to the process.
 */
export function niceAsSession(niceness: number): void {
  try {
    writeFileSync('/proc/self/autogroup', String(niceness));
  } catch {
    // No such file, or none that may be written.
  }
}
