import { describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import type { Services } from '../../src/context.js';
import { createLastUse } from '../../src/domain/identity/last-use.js';

function house() {
  const clock = { ms: 1_000_000 };
  const written: string[][] = [];
  const log = pino({ level: 'silent' });
  const services = { now: () => new Date(clock.ms), log } as unknown as Services;
  return { clock, written, services };
}

describe('the last use', () => {
  it('of a thousand requests is one statement, and the next one comes a minute later', async () => {
    const { clock, written, services } = house();
    const uses = createLastUse(services, 'things', async (_services, ids) => void written.push([...ids]));
    for (let request = 0; request < 1_000; request += 1) uses.note(`ses_${request % 2}`);
    await uses.close();
    expect(written).toEqual([['ses_0', 'ses_1']]);
    clock.ms += 59_999;
    uses.note('ses_0');
    await uses.close();
    expect(written).toHaveLength(1);
    clock.ms += 1;
    uses.note('ses_0');
    await uses.close();
    expect(written).toEqual([['ses_0', 'ses_1'], ['ses_0']]);
  });

  it('that could not be written is written with the next', async () => {
    const { written, services } = house();
    const write = jest
      .fn<(services: unknown, ids: readonly string[]) => Promise<void>>()
      .mockRejectedValueOnce(new Error('away'))
      .mockImplementation(async (_services, ids) => void written.push([...ids]));
    const uses = createLastUse(services, 'things', write);
    uses.note('ses_0');
    await uses.close();
    uses.note('ses_0');
    await uses.close();
    expect(written).toEqual([['ses_0']]);
  });
});
