import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { takeTurns } from '../../src/gateway/take-turns.js';

describe('requests that arrive together', () => {
  let begun: string[];
  let arrive: (method: string, name: string) => void;

  beforeEach(() => {
    begun = [];
    const handler = takeTurns();
    arrive = (method, name) => void handler({ method } as Request, {} as Response, () => begun.push(name));
  });

  it('are begun at once when they read, and four in each turn otherwise, in their order', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `write ${n}`);
    for (const name of names) arrive('POST', name);
    arrive('GET', 'read');
    expect(begun).toEqual([...names.slice(0, 4), 'read']);
    const counts: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      await turn();
      counts.push(begun.length);
    }
    expect([...new Set(counts)].filter((count) => count > 5)).toEqual([9, 13, 17, 21]);
    expect(begun.filter((name) => name !== 'read')).toEqual(names);
  });

  it('do not overtake those that wait, and do not wait when these have begun', async () => {
    for (let n = 0; n < 9; n += 1) arrive('POST', `write ${n}`);
    await turn();
    arrive('DELETE', 'later');
    expect(begun.at(-1)).toBe('write 7');
    for (let n = 0; n < 3; n += 1) await turn();
    expect(begun.slice(-2)).toEqual(['write 8', 'later']);
    arrive('PATCH', 'alone');
    expect(begun.at(-1)).toBe('alone');
  });
});
