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

  it('are begun at once when they read, and one in each turn otherwise, in their order', async () => {
    for (const name of ['first', 'second', 'third']) arrive('POST', name);
    arrive('GET', 'read');
    arrive('DELETE', 'last');
    expect(begun).toEqual(['first', 'read']);
    const seen: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      await turn();
      seen.push(begun.length);
    }
    expect(begun).toEqual(['first', 'read', 'second', 'third', 'last']);
    for (const [index, count] of seen.entries())
      expect(count - (seen[index - 1] ?? 2)).toBeLessThanOrEqual(1);
  });

  it('do not wait when the turns of those before are over', async () => {
    arrive('POST', 'first');
    arrive('POST', 'second');
    for (let n = 0; n < 3; n += 1) await turn();
    arrive('PATCH', 'third');
    expect(begun).toEqual(['first', 'second', 'third']);
  });
});
