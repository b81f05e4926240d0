import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { openRunHouse } from './run-house.js';

const HOUR_MS = 3_600_000;

it('closes the stream of a run when the token runs out that opened it', async () => {
  let ahead = 0;
  const house = await openRunHouse({ ROLE: 'api' }, { now: () => new Date(Date.now() + ahead) });
  try {
    const runId = await house.start(
      await house.createPipeline(`
apiVersion: v1
name: waiting
source: { id: s, type: inline, rows: [{ a: 1 }] }
target: { id: t, type: file, path: waiting.csv }
`),
    );
    const credential = await house.app.platform('demo-engineer');
    ahead = HOUR_MS - 3_000;
    const { socket, until } = house.watch(runId, { credential });
    const closed = once(socket, 'close');
    await until(({ status }) => status === 'PENDING');
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([4403, 'TOKEN_EXPIRED']);
  } finally {
    await house.close();
  }
});
