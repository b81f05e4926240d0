import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { openRunHouse, type RunHouse } from './run-house.js';
import type { Message } from './watched-run.js';

let house: RunHouse;
beforeAll(async () => {
  house = await openRunHouse();
});
afterAll(() => house.close());

const definition = `
apiVersion: v1
name: watched
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: b, type: sql, inputs: [a], sql: "SELECT x + 1 AS x FROM a" }
target: { id: t, type: file, path: watched.parquet, mode: OVERWRITE }
`;

async function finishedRun(): Promise<{ runId: string; all: Message[] }> {
  const runId = await house.start(await house.createPipeline(definition));
  const watched = house.watch(runId, { after: 0 });
  expect(await watched.closed).toBe(1000);
  return { runId, all: watched.messages };
}

describe('the run stream', () => {
  it('tells every state of every task, in order, numbered without a gap, and closes with 1000', async () => {
    const { runId, all } = await finishedRun();
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
    expect(all.every((message) => message.runId === runId)).toBe(true);
    const told = (id: string) => all.filter(({ type, taskId }) => type === 'task' && taskId === id);
    for (const id of ['a', 'b', 't'])
      expect(told(id).map(({ status }) => status)).toEqual(['RUNNING', 'SUCCESS']);
    const states = all.filter(({ type }) => type === 'run').map(({ status }) => status);
    expect(states).toEqual(['PENDING', 'RUNNING', 'COMPLETED']);
    expect(all.some(({ type, message }) => type === 'log' && typeof message === 'string')).toBe(true);
  });

  it('begins with the present state: of a run that has ended it is all there is', async () => {
    const { runId } = await finishedRun();
    const watched = house.watch(runId);
    expect(await watched.closed).toBe(1000);
    expect(watched.messages.map(({ type, taskId, status }) => [type, taskId, status])).toEqual([
      ['task', 'a', 'SUCCESS'],
      ['task', 'b', 'SUCCESS'],
      ['task', 't', 'SUCCESS'],
      ['run', undefined, 'COMPLETED'],
    ]);
  });

  it('goes on behind a number, with nothing lost and nothing twice', async () => {
    const { runId, all } = await finishedRun();
    for (const after of [1, Math.floor(all.length / 2), all.length - 1]) {
      const watched = house.watch(runId, { after });
      expect(await watched.closed).toBe(1000);
      expect(watched.messages).toEqual(all.slice(after));
    }
  });

  it('gives many watchers, whenever they come, one and the same story', async () => {
    const runId = await house.start(await house.createPipeline(definition));
    const early = Array.from({ length: 20 }, () => house.watch(runId, { after: 0 }));
    await early[0]?.until(({ taskId, status }) => taskId === 'a' && status === 'RUNNING');
    const late = Array.from({ length: 20 }, () => house.watch(runId, { after: 0 }));
    const fromNow = house.watch(runId);
    await Promise.all([...early, ...late, fromNow].map(({ closed }) => closed));
    const [story] = early.map(({ messages }) => messages);
    for (const { messages } of [...early, ...late]) expect(messages).toEqual(story);
    const snapshotSeq = fromNow.messages[0]?.seq ?? 0;
    const live = fromNow.messages.filter(({ seq }) => seq > snapshotSeq);
    expect(live).toEqual(story?.filter(({ seq }) => seq > snapshotSeq));
  });

  it('takes the token from the subprotocol pair of a browser and answers with "bearer" alone', async () => {
    const { runId } = await finishedRun();
    const { authorization } = await house.app.platform('demo-viewer');
    const address = `${house.app.url.replace('http', 'ws')}/api/v1/runs/${runId}/stream`;
    const socket = new WebSocket(address, ['bearer', authorization?.slice('Bearer '.length) ?? '']);
    const protocol = await new Promise((resolve, reject) => {
      socket.on('open', () => resolve(socket.protocol));
      socket.on('error', reject);
    });
    expect(protocol).toBe('bearer');
    socket.terminate();
  });

  it('refuses a stranger before the upgrade, in the error body of the platform', async () => {
    const { runId } = await finishedRun();
    const socket = new WebSocket(`${house.app.url.replace('http', 'ws')}/api/v1/runs/${runId}/stream`);
    const [status, body] = await new Promise<[number | undefined, string]>((resolve) => {
      socket.on('unexpected-response', (_request, response) => {
        response.setEncoding('utf8');
        let text = '';
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve([response.statusCode, text]));
      });
      socket.on('error', () => undefined);
    });
    expect([status, JSON.parse(body).error]).toEqual([401, 'UNAUTHORIZED']);
  });

  it('answers a request without an upgrade that it needs one, and a stranger nothing else than elsewhere', async () => {
    const runId = '01a1fb3c-6ba4-7748-a964-b27f88c25ee9';
    const address = `${house.app.url}/api/v1/runs/${runId}/stream`;
    const answer = await fetch(address, { headers: await house.app.platform('demo-viewer') });
    expect([answer.status, answer.headers.get('upgrade'), await answer.json()]).toEqual([
      426,
      'websocket',
      { error: 'UPGRADE_REQUIRED', message: expect.any(String), timestamp: expect.any(String) },
    ]);
    const refused = await fetch(address);
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'UNAUTHORIZED' }]);
  });

  it('is the same as the subscription runUpdates over graphql-ws', async () => {
    const { runId, all } = await finishedRun();
    const client = createClient({
      url: `${house.app.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: await house.app.platform('demo-viewer'),
      retryAttempts: 0,
    });
    const query = `subscription ($runId: UUID!) { runUpdates(runId: $runId, after: 0)
      { type seq runId timestamp status taskId attempt rows bytes error level message } }`;
    const seen: unknown[] = [];
    for await (const { data } of client.iterate<{ runUpdates: object }>({ query, variables: { runId } })) {
      seen.push(
        Object.fromEntries(Object.entries(data?.runUpdates ?? {}).filter(([, value]) => value !== null)),
      );
    }
    await client.dispose();
    expect(seen).toEqual(all);
  });
});
