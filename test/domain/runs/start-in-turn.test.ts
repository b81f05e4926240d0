import { expect, it } from '@jest/globals';
import { inTurn, startsOver } from '../../../src/domain/runs/start-in-turn.js';

const AT_A_TIME = 1;
const MAX_WAITING = 1_000;

it('begins one start at a time, in the order in which they were asked for, and refuses what would wait too long', async () => {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const ask = (n: number) =>
    inTurn(async () => {
      begun.push(n);
      await new Promise<void>((resolve) => ends.push(resolve));
      return n;
    });
  const asked = Array.from({ length: AT_A_TIME + MAX_WAITING }, (_, n) => ask(n));
  await expect(ask(asked.length)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    details: { service: 'start of runs', retryAfter: 1 },
  });
  expect(begun).toEqual([0]);

  for (const [n, start] of asked.entries()) {
    ends[n]?.();
    await expect(start).resolves.toBe(n);
    expect(begun.length).toBeLessThanOrEqual(n + 1 + AT_A_TIME);
  }
  expect(begun).toEqual(asked.map((_, n) => n));
});

it('gives its turn to the next when a start fails', async () => {
  const failing = Array.from({ length: AT_A_TIME }, () => inTurn(() => Promise.reject(new Error('refused'))));
  const next = inTurn(async () => 'started');
  for (const start of failing) await expect(start).rejects.toThrow('refused');
  await expect(next).resolves.toBe('started');
});

it('tells when nobody waits any more, or that it takes too long', async () => {
  await startsOver(60_000);
  const ended = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const order: string[] = [];
  const starts = ended.map(({ promise }, n) => inTurn(() => promise).then(() => order.push(`start ${n}`)));
  const over = startsOver(60_000).then(() => order.push('over'));
  await startsOver(20);
  order.push('too long');
  for (const { resolve } of ended) resolve();
  await Promise.all([...starts, over]);
  expect(order.slice(0, 2)).toEqual(['too long', 'start 0']);
  expect(new Set(order.slice(2))).toEqual(new Set(['start 1', 'over']));
  await startsOver(60_000);
});
