import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { postLineage } from '../../src/domain/lineage/index.js';
import { eventually } from '../support/eventually.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const posted: { eventType: string; run: { runId: string } }[] = [];
let isAway = true;
let missed = 0;
let isReady = Promise.resolve();
const collector = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    await isReady;
    if (isAway) missed += 1;
    else posted.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.writeHead(isAway ? 503 : 201).end();
  });
});
let house: RunHouse;

beforeAll(async () => {
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  house = await openRunHouse({ OPENLINEAGE_URL: `http://127.0.0.1:${port}/api/v1/lineage` });
});
afterAll(async () => {
  await house?.close();
  collector.close();
});

async function isEndKept(runId: string): Promise<boolean> {
  const { body } = await house.engineer('GET', `/api/v1/lineage/events?runId=${runId}`);
  return body.some(({ eventType }: { eventType: string }) => eventType === 'COMPLETE');
}

const definition = `
apiVersion: v1
name: missed
source: { id: s, type: inline, rows: [{ a: 1 }] }
target: { id: t, type: file, path: missed.csv, mode: OVERWRITE }
`;

it('tries a receiver that is away every 15 s only, however many runs there are, and it misses none of them', async () => {
  const pipelineId = await house.createPipeline(definition, { name: 'missed' });
  const since = performance.now();
  const runIds: string[] = [];
  for (let count = 0; count < 6; count += 1) {
    const runId = await house.start(pipelineId);
    runIds.push(runId);
    await house.watch(runId).closed;
    await eventually(() => isEndKept(runId));
  }
  const turns = Math.ceil((performance.now() - since) / 15_000);
  expect(missed).toBeLessThanOrEqual(1 + turns);
  isAway = false;
  const completed = () => posted.filter(({ eventType }) => eventType === 'COMPLETE');
  await eventually(() => completed().length === runIds.length, 30_000);
  const ends = posted.filter(({ eventType }) => eventType !== 'RUNNING');
  expect(ends.map(({ eventType, run }) => [eventType, run.runId])).toEqual(
    runIds.flatMap((runId) => [
      ['START', runId],
      ['COMPLETE', runId],
    ]),
  );
}, 90_000);

it('leaves it to the worker that is at it', async () => {
  isAway = true;
  const runId = await house.start(await house.createPipeline(definition, { name: 'once' }));
  await house.watch(runId).closed;
  await eventually(() => isEndKept(runId));
  let answer = () => {};
  isReady = new Promise((resolve) => {
    answer = resolve;
  });
  isAway = false;
  const { signal } = new AbortController();
  const first = postLineage(house.app.services, signal);
  // Would wait for the receiver if it posted as well.
  await postLineage(house.app.services, signal);
  answer();
  await first;
  const ofRun = () => posted.filter(({ run }) => run.runId === runId).map(({ eventType }) => eventType);
  await eventually(() => ofRun().includes('COMPLETE'), 30_000);
  // At least once: an answer that came too late counts as none.
  expect([...new Set(ofRun())].filter((eventType) => eventType !== 'RUNNING')).toEqual(['START', 'COMPLETE']);
}, 60_000);
