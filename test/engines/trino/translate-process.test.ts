import { describe, expect, it } from '@jest/globals';
import { translateBeside } from '../../../src/engines/trino/translate-process.js';
import { expectTheEventLoopFree } from '../../support/event-loop.js';

const translated = (sql: string, { signal } = new AbortController()) =>
  translateBeside({ sql, from: 'duckdb', readable: { tasks: ['orders'] } }, signal);
/** 13 s of parsing on an idle processor. */
const long = Array(40_000).fill('SELECT id, amount + 1 AS amount FROM orders').join(' UNION ALL ');

describe('SQL for Trino beside the server', () => {
  expectTheEventLoopFree();

  it('is translated, or refused as it would be here', async () => {
    expect(await translated('SELECT id FROM Orders')).toBe('SELECT id FROM "orders"');
    await expect(translated('SELECT * FROM payroll')).rejects.toMatchObject({
      name: 'EngineError',
      kind: 'SQL',
      message: 'The SQL may not read "payroll".',
    });
  });

  it('is given up at the deadline, or when the parser breaks, and the next is translated', async () => {
    const late = translated(long);
    const broken = translated(`SELECT ${Array(20_000).fill('id').join('+')} FROM orders`);
    const next = translated('SELECT 1 FROM orders');
    for (const each of [late, broken]) {
      await expect(each).rejects.toMatchObject({
        name: 'EngineError',
        kind: 'SQL',
        message: expect.stringMatching(/^The SQL cannot be put into Trino's dialect: /),
      });
    }
    await expect(late).rejects.toThrow('not done within 5000 ms');
    expect(await next).toBe('SELECT 1 FROM "orders"');
  });

  it('is given up when its run is cancelled', async () => {
    const cancel = new AbortController();
    const late = translated(long, cancel);
    cancel.abort(new Error('cancelled'));
    await expect(late).rejects.toThrow('cancelled');
  });
});
