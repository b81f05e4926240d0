import type { AttemptState } from '../../entities/identity/login-guard.js';

/** ITSM completion, Errors not shown. */
export const MAX_FAILURES = 5;
export const WINDOW_MS = 15 * 60_000;
export const LOCK_MS = 15 * 60_000;
/** A check takes some 50 ms; a node that has not decided by then is dead, and its attempt counts as failed. */
const UNDECIDED_MS = 10_000;

export const NO_ATTEMPTS: AttemptState = { failures: [], pending: [], lockedUntil: null };

export type Admission = 'admitted' | 'locked' | 'wait';

/**
 * `passed` forgets earlier failures, `failed` counts, `undecided` does neither: the password was right and a second
 * factor is due, or the check itself broke.
 */
export type Outcome = 'passed' | 'failed' | 'undecided';

/**
 * Failures within the window and attempts being checked never exceed five together: so no more than five passwords are
 * tried however many are sent at once, and a right one beside them waits its turn instead of being refused.
 */
export function admit(
  before: AttemptState,
  attempt: { id: string; at: number },
): { admission: Admission; state: AttemptState } {
  const state = presentState(before, attempt.at);
  if (state.lockedUntil !== null) return { admission: 'locked', state };
  if (state.failures.length + state.pending.length >= MAX_FAILURES) return { admission: 'wait', state };
  return { admission: 'admitted', state: { ...state, pending: [...state.pending, attempt] } };
}

export function settle(before: AttemptState, id: string, outcome: Outcome, now: number): AttemptState {
  const present = presentState(before, now);
  const state = { ...present, pending: present.pending.filter((attempt) => attempt.id !== id) };
  if (outcome === 'passed') return { ...state, failures: [] };
  // One that took too long was counted already.
  const counts = outcome === 'failed' && state.pending.length < present.pending.length;
  return counts ? lockedWhenFull({ ...state, failures: [...state.failures, now] }, now) : state;
}

/** Without what is over: an old failure, a lock, an attempt of a node that died. */
function presentState(state: AttemptState, now: number): AttemptState {
  if (state.lockedUntil !== null && state.lockedUntil <= now)
    return {
      failures: [],
      lockedUntil: null,
      pending: state.pending.filter(({ at }) => isDecidable(at, now)),
    };
  const lost = state.pending.filter(({ at }) => !isDecidable(at, now)).map(({ at }) => at);
  const failures = [...state.failures, ...lost].filter((at) => at > now - WINDOW_MS);
  const pending = state.pending.filter(({ at }) => isDecidable(at, now));
  return lockedWhenFull({ failures, pending, lockedUntil: state.lockedUntil }, now);
}

function isDecidable(at: number, now: number): boolean {
  return at > now - UNDECIDED_MS;
}

function lockedWhenFull(state: AttemptState, now: number): AttemptState {
  if (state.lockedUntil !== null || state.failures.length < MAX_FAILURES) return state;
  return { ...state, lockedUntil: now + LOCK_MS };
}
