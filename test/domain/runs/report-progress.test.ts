import { describe, expect, it } from '@jest/globals';
import { progressReporter } from '../../../src/domain/runs/report-progress.js';
import type { TaskProgress } from '../../../src/engines/engine.js';

/** What is passed on of reports that come each quarter of a second for so many seconds. */
function toldWithin(seconds: number, at: (second: number) => TaskProgress) {
  let now = 0;
  const told: (TaskProgress & { second: number })[] = [];
  const report = progressReporter(
    (progress) => told.push({ ...progress, second: now / 1_000 }),
    () => now,
  );
  for (; now <= seconds * 1_000; now += 250) report(at(now / 1_000));
  return told;
}

describe('the progress of an attempt', () => {
  it('is told each five percent and not more often than each second', () => {
    const slow = toldWithin(200, (second) => ({ percent: second / 2, rows: 0 }));
    expect(slow.map(({ percent }) => percent)).toEqual(Array.from({ length: 19 }, (_, n) => 5 * (n + 1)));
    const fast = toldWithin(4, (second) => ({ percent: second * 30, rows: 0 }));
    expect(fast.map(({ second, percent }) => [second, percent])).toEqual([
      [1, 30],
      [2, 60],
      [3, 90],
    ]);
  });

  it('is told by its rows where percents are not known, more and more seldom', () => {
    const told = toldWithin(70, (second) => ({ percent: 0, rows: second * 1_000 }));
    expect(told.map(({ second, rows }) => [second, rows])).toEqual(
      [1, 2, 4, 8, 16, 32, 64].map((second) => [second, second * 1_000]),
    );
  });

  it('is not told when nothing changed, when it is over, or backwards', () => {
    expect(toldWithin(100, () => ({ percent: 0, rows: 0 }))).toEqual([]);
    expect(toldWithin(100, (second) => ({ percent: 50, rows: second < 3 ? 7 : 8 }))).toHaveLength(2);
    expect(toldWithin(100, () => ({ percent: 100, rows: 9 }))).toEqual([]);
    const back = toldWithin(8, (second) => ({ percent: second < 2 ? 60 : 10, rows: second }));
    expect(back.map(({ percent }) => percent)).toEqual([60, 60, 60, 60]);
  });

  it('is at most 36 messages in a day', () => {
    const day = 86_400;
    const told = toldWithin(day, (second) => ({ percent: (second / day) * 99, rows: second }));
    expect(told.length).toBeLessThanOrEqual(36);
  });
});
