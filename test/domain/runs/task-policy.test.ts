import { describe, expect, it } from '@jest/globals';
import { runDeadline, taskTimeoutMs } from '../../../src/domain/runs/task-policy.js';

const START = new Date('2026-11-21T08:00:00Z');
/** In seconds: what the record says, what the definition, and what each task. */
const given = (record: number, yaml: number | undefined, ...tasks: (number | undefined)[]) => {
  const run = { startedAt: START, timeoutSeconds: record };
  const definition = yaml === undefined ? {} : { timeoutMs: yaml * 1000 };
  const named = tasks.map((seconds) => (seconds === undefined ? {} : { timeoutMs: seconds * 1000 }));
  return {
    run: (runDeadline(run, definition, named) - START.getTime()) / 1000,
    tasks: named.map((task) => taskTimeoutMs(run, definition, task) / 1000),
  };
};

describe('timeouts', () => {
  it("are a task's own, else the definition's, else the record's", () => {
    expect(given(2, undefined, 10, undefined).tasks).toEqual([10, 2]);
    expect(given(2, 5, 10, 1, undefined).tasks).toEqual([10, 1, 5]);
  });

  it('leave the run as long as the longest of them', () => {
    expect(given(3600, undefined, 1, undefined).run).toBe(3600);
    expect(given(3600, undefined, 7200, 10).run).toBe(7200);
    expect(given(3600, 5, undefined).run).toBe(5);
    expect(given(3600, 5, 2, 10).run).toBe(10);
  });
});
