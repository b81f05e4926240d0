import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openRunHouse, type RunHouse } from './run-house.js';

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse();
});

afterAll(() => house.close());

/** Slow in proportion to its rows, so that it has a half and a three quarters. */
const definition = `
apiVersion: v1
name: slow
source: { id: numbers, type: file, path: numbers.csv }
transformations:
  - { id: hashed, type: sql, inputs: [numbers], sql: "SELECT i, list_sum(list_transform(range(400), lambda x: hash(x + i) % 7)) AS h FROM numbers" }
target: { id: out, type: file, path: out.parquet, mode: OVERWRITE }
`;

it('says how far a long task has come, in messages, to who comes late, and in the graph', async () => {
  const rows = Array.from({ length: 600_000 }, (_, i) => i);
  const file = path.join(house.app.dataDir, 'files/numbers.csv');
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `i\n${rows.join('\n')}\n`);
  const runId = await house.start(await house.createPipeline(definition));
  const watched = house.watch(runId);
  const isProgress = ({ taskId, percent }: { taskId?: string; percent?: number }) =>
    taskId === 'hashed' && percent !== undefined;
  const first = await watched.until(isProgress);
  expect(first).toMatchObject({ type: 'task', status: 'RUNNING', attempt: 1, rows: expect.any(Number) });

  const late = house.watch(runId);
  expect(await late.until(({ taskId }) => taskId === 'hashed')).toMatchObject({
    status: 'RUNNING',
    percent: expect.any(Number),
  });
  const query = `{ run(id: "${runId}") { tasks { taskId status attempt percent rows bytes startedAt finishedAt } } }`;
  const running = await house.engineer('POST', '/graphql', { query });
  expect(running.body.data.run.tasks).toMatchObject([
    {},
    { taskId: 'hashed', status: 'RUNNING', percent: expect.any(Number), finishedAt: null },
    { taskId: 'out', status: 'PENDING', attempt: 0, percent: null },
  ]);

  await watched.closed;
  const percents = watched.messages.filter(isProgress).map(({ percent }) => percent ?? 0);
  expect(percents).toEqual(percents.toSorted((a, b) => a - b));
  expect(percents.at(-1)).toBeLessThan(100);
  expect(percents.length).toBeLessThanOrEqual(36);
  const over = await house.engineer('POST', '/graphql', { query });
  expect(over.body.data.run.tasks[1]).toMatchObject({
    status: 'SUCCESS',
    percent: null,
    rows: 600_000,
    bytes: expect.any(Number),
    finishedAt: expect.any(String),
  });
}, 60_000);
