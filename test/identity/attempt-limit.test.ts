import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  admit,
  LOCK_MS,
  MAX_FAILURES,
  NO_ATTEMPTS,
  type Outcome,
  settle,
  WINDOW_MS,
} from '../../src/domain/identity/attempt-limit.js';
import type { AttemptState } from '../../src/entities/identity/login-guard.js';

const START = Date.UTC(2026, 0, 1);

/** One attempt that is decided at once. */
function attempt(state: AttemptState, at: number, outcome: Outcome) {
  const { admission, state: admitted } = admit(state, { id: 'a', at });
  return { admission, state: admission === 'admitted' ? settle(admitted, 'a', outcome, at) : admitted };
}

function failAt(...times: number[]): AttemptState {
  return times.reduce((state, at) => attempt(state, START + at, 'failed').state, NO_ATTEMPTS);
}

describe('five failures', () => {
  it('lock for 15 minutes from the fifth, to the millisecond', () => {
    const state = failAt(0, 1, 2, 3, 4);
    expect(state.lockedUntil).toBe(START + 4 + LOCK_MS);
    expect(attempt(state, START + 4 + LOCK_MS - 1, 'passed').admission).toBe('locked');
    const after = attempt(state, START + 4 + LOCK_MS, 'failed');
    expect(after).toMatchObject({ admission: 'admitted', state: { lockedUntil: null } });
    expect(after.state.failures).toHaveLength(1);
  });

  it('do not lock when they are further apart than 15 minutes', () => {
    expect(failAt(0, 1, 2, 3, WINDOW_MS).lockedUntil).toBeNull();
    expect(failAt(0, 1, 2, 3, WINDOW_MS - 1).lockedUntil).not.toBeNull();
  });

  it('do not lock when a right password came between', () => {
    const { state } = attempt(failAt(0, 1, 2, 3), START + 4, 'passed');
    expect(attempt(state, START + 5, 'failed').state.lockedUntil).toBeNull();
  });

  it('lock in spite of right passwords whose second factor was not given', () => {
    const { state } = attempt(failAt(0, 1, 2, 3), START + 4, 'undecided');
    expect(attempt(state, START + 5, 'failed').state.lockedUntil).not.toBeNull();
  });

  it('are not made more by attempts during the lock', () => {
    const locked = failAt(0, 1, 2, 3, 4);
    expect(attempt(locked, START + 60_000, 'failed').state).toEqual(locked);
  });
});

describe('attempts at once', () => {
  const five = Array.from({ length: 5 }, (_, n) => `${n}`).reduce(
    (state, id) => admit(state, { id, at: START }).state,
    NO_ATTEMPTS,
  );

  it('wait from the sixth on, until one is decided', () => {
    expect(admit(five, { id: 'six', at: START }).admission).toBe('wait');
    const oneRight = settle(five, '0', 'passed', START + 50);
    expect(admit(oneRight, { id: 'six', at: START + 50 }).admission).toBe('admitted');
    const oneWrong = settle(five, '0', 'failed', START + 50);
    expect(admit(oneWrong, { id: 'six', at: START + 50 }).admission).toBe('wait');
  });

  it('that nobody decides count as failed: killing a node gives no free guesses', () => {
    expect(admit(five, { id: 'six', at: START + 9_999 }).admission).toBe('wait');
    expect(admit(five, { id: 'six', at: START + 10_000 }).admission).toBe('locked');
    expect(settle(five, '0', 'failed', START + 10_000).failures).toHaveLength(5);
  });
});

describe('whatever comes in whatever order', () => {
  type Step = { wait: number; begin: boolean; outcome: Outcome };
  const step: fc.Arbitrary<Step> = fc.record({
    wait: fc.oneof(fc.nat(2_000), fc.nat(20 * 60_000)),
    begin: fc.boolean(),
    outcome: fc.constantFrom<Outcome>('passed', 'failed', 'undecided'),
  });

  it('never more than five wrong passwords are looked at within a window without a right one between', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let now = START;
        let state = NO_ATTEMPTS;
        const open: string[] = [];
        let wrong: number[] = [];
        for (const [index, { wait, begin, outcome }] of steps.entries()) {
          now += wait;
          if (begin) {
            const { admission, state: next } = admit(state, { id: `${index}`, at: now });
            state = next;
            if (admission === 'admitted') open.push(`${index}`);
          } else {
            const id = open.shift();
            if (id === undefined) continue;
            state = settle(state, id, outcome, now);
            if (outcome === 'failed') wrong.push(now);
            if (outcome === 'passed') wrong = [];
          }
          expect(state.failures.length + state.pending.length).toBeLessThanOrEqual(MAX_FAILURES);
          const recent = wrong.filter((at) => at > now - WINDOW_MS);
          expect(recent.length).toBeLessThanOrEqual(MAX_FAILURES);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
