import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, beforeEach, expect } from '@jest/globals';

/** In a block whose work is beside this thread. Not a bound of speed: what is guarded against held it up for minutes. */
export function expectTheEventLoopFree(): void {
  const delays = monitorEventLoopDelay();
  beforeEach(() => {
    delays.reset();
    delays.enable();
  });
  afterEach(() => {
    delays.disable();
    expect(delays.max / 1e6).toBeLessThan(1_000);
  });
}
