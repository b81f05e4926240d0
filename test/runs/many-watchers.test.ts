import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { nativePool } from '../../src/database/native-pool.js';
import { runTopic } from '../../src/events/run-topics.js';
import { openRunHouse, type RunHouse } from './run-house.js';
import { type Message, watch } from './watched-run.js';

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse();
});

afterAll(() => house.close());

/** 1,500 lines, so that readers need more than one batch. */
const definition = `
apiVersion: v1
name: watched
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations:
  - { id: forever, type: sql, inputs: [a], sql: "SELECT count(*) AS n FROM range(1000000000000) AS r (i), a WHERE i % 3 = 1" }
target: { id: t, type: file, path: t.parquet, mode: OVERWRITE }
`;
const WATCHERS = 100;

const withoutSnapshot = (messages: readonly Message[]) => {
  const [first] = messages;
  return messages.filter(({ seq }) => seq > (first?.seq ?? 0));
};

it('tells a hundred watchers everything, in order and once, and reads it once for all of them', async () => {
  const credential = await house.app.platform('demo-engineer');
  const runId = await house.start(await house.createPipeline(definition));
  await house.watch(runId).until(({ taskId, status }) => taskId === 'forever' && status === 'RUNNING');
  const watchers = Array.from({ length: WATCHERS }, (_, n) =>
    watch(house.app.url, runId, { credential, ...(n % 10 === 0 && { after: 2 }) }),
  );
  await Promise.all(watchers.map((watcher) => watcher.until(({ taskId }) => taskId === 'forever')));
  const [slow] = watchers;
  if (!slow) throw new Error('nobody watches');
  slow.socket.pause();

  const pool = await nativePool(house.app.services.orm);
  const reads = jest.spyOn(pool, 'query');
  const journal = await pool.connect();
  // What a worker writes, and says so, in the same words.
  for (let batch = 0; batch < 3; batch += 1) {
    await journal.query(
      `WITH held AS (UPDATE "run" SET "last_seq" = "last_seq" + 500 WHERE "id" = $1 RETURNING "last_seq" - 500 AS "before")
       INSERT INTO "run_message" ("run_id", "seq", "type", "body", "timestamp")
       SELECT $1, held."before" + n, 'log', jsonb_build_object('level', 'INFO', 'message', $2 || ' ' || n), now()
       FROM held, generate_series(1, 500) AS n`,
      [runId, `batch ${batch} line`],
    );
    house.app.services.wake.wake(runTopic(runId));
  }
  journal.release();
  const others = watchers.filter((watcher) => watcher !== slow);
  await Promise.all(others.map((watcher) => watcher.until(({ message }) => message === 'batch 2 line 500')));
  const statements = reads.mock.calls.filter(([query]) => JSON.stringify(query).includes('run_message'));
  expect(statements.length).toBeLessThan(20);
  reads.mockRestore();

  await house.engineer('POST', `/api/v1/runs/${runId}/cancel`);
  slow.socket.resume();
  expect(await Promise.all(watchers.map(({ closed }) => closed))).toEqual(Array(WATCHERS).fill(1000));
  for (const { messages } of watchers) {
    const after = withoutSnapshot(messages);
    const [first] = after;
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_, index) => (first?.seq ?? 0) + index));
    expect(messages.at(-1)).toMatchObject({ type: 'run', status: 'CANCELLED' });
    expect(
      messages.filter(({ type, message }) => type === 'log' && message?.startsWith('batch ')),
    ).toHaveLength(1_500);
  }
}, 60_000);
