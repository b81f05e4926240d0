import '../../src/jobs/remember-debuggers.js';
import { describe, expect, it } from '@jest/globals';
import debug from 'debug';

describe('debuggers', () => {
  it('are made once for each name', () => {
    const log = debug('opsgraph-test');
    expect(log.extend('fill')).toBe(log.extend('fill'));
    expect(log.extend('fill', '-')).not.toBe(log.extend('fill'));
    expect([log.extend('fill'), log.extend('fill', '-')].map(({ namespace }) => namespace)).toEqual([
      'opsgraph-test:fill',
      'opsgraph-test-fill',
    ]);
  });

  it('are still switched on and off by name', () => {
    const line = debug('opsgraph-test').extend('line');
    debug.enable('opsgraph-test:*');
    expect(line.enabled).toBe(true);
    debug.disable();
    expect(line.enabled).toBe(false);
  });
});
