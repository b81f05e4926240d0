import type { TaskProgress } from '../../engines/engine.js';

/** At most so often. */
const INTERVAL_MS = 1_000;
const STEP_PERCENT = 5;
/** Where rows grow and percents do not, each report waits this much longer than the one before. */
const BACK_OFF = 2;

/**
 * Passes on how far an attempt has come, so seldom that a watcher keeps it and no long run fills the database: each so
 * many percent, and besides at 1, 2, 4, 8 s and so on when rows were counted since. That is 19 messages and, in a day, 17.
 */
export function progressReporter(
  tell: (progress: TaskProgress) => void,
  clock: () => number = () => performance.now(),
): (progress: TaskProgress) => void {
  const begin = clock();
  let told = { percent: 0, rows: 0, at: begin };
  let nextRows = INTERVAL_MS;
  return ({ percent, rows }) => {
    const at = clock();
    const whole = Math.floor(percent);
    if (at - told.at < INTERVAL_MS || whole >= 100) return;
    const isRows = rows > told.rows && at - begin >= nextRows;
    if (whole < told.percent + STEP_PERCENT && !isRows) return;
    while (isRows && nextRows <= at - begin) nextRows *= BACK_OFF;
    told = { percent: Math.max(whole, told.percent), rows, at };
    tell({ percent: told.percent, rows });
  };
}
