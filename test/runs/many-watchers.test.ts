import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { nativePool } from '../../src/database/native-pool.js';
import { runTopic } from '../../src/events/run-topics.js';
import { openRunHouse, type RunHouse } from './run-house.js';
import { type Message, watch } from './watched-run.js';

let house: RunHouse;
let credential: Record<string, string>;
let runId: string;

beforeAll(async () => {
  house = await openRunHouse();
  credential = await house.app.platform('demo-engineer');
});

afterAll(() => house.close());

const definition = `
apiVersion: v1
name: watched
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations:
  - { id: forever, type: sql, inputs: [a], sql: "SELECT count(*) AS n FROM range(1000000000000) AS r (i), a WHERE i % 3 = 1" }
target: { id: t, type: file, path: t.parquet, mode: OVERWRITE }
`;
const isUnderWay = ({ taskId, status }: Message) => taskId === 'forever' && status === 'RUNNING';

beforeEach(async () => {
  runId = await house.start(await house.createPipeline(definition));
  await house.watch(runId).until(isUnderWay);
});

const cancel = () => house.engineer('POST', `/api/v1/runs/${runId}/cancel`);
const watchFrom = (after?: number) =>
  watch(house.app.url, runId, { credential, ...(after !== undefined && { after }) });

/** What a worker writes, and says so, in the same words. */
async function tellLines(batch: string, count: number, padding = 0): Promise<void> {
  await house.app.services.orm.em.fork().execute(
    `WITH held AS (UPDATE "run" SET "last_seq" = "last_seq" + ? WHERE "id" = ? RETURNING "last_seq" - ? AS "before")
     INSERT INTO "run_message" ("run_id", "seq", "type", "body", "timestamp")
     SELECT ?, held."before" + n, 'log', jsonb_build_object('level', 'INFO', 'message', ? || ' line ' || n || repeat('.', ?)), now()
     FROM held, generate_series(1, ?) AS n`,
    [count, runId, count, runId, batch, padding, count],
  );
  house.app.services.wake.wake(runTopic(runId));
}

const linesOf = (messages: readonly Message[]) =>
  messages.filter(({ type, message }) => type === 'log' && message?.includes(' line '));

/** Everything behind the snapshot, or behind the number that was asked for. */
function expectWhole(messages: readonly Message[]): void {
  const begin = messages[0]?.seq ?? 0;
  const seqs = messages.map(({ seq }) => seq).filter((seq) => seq > begin);
  expect(seqs).toEqual(seqs.map((_, index) => begin + 1 + index));
  expect(messages.at(-1)).toMatchObject({ type: 'run', status: 'CANCELLED' });
}

const WATCHERS = 100;
const SUBSCRIBERS = 8;

it('tells a hundred watchers everything, in order and once, and reads it once for all of them', async () => {
  const watchers = Array.from({ length: WATCHERS }, (_, n) => watchFrom(n % 10 === 0 ? 2 : undefined));
  const client = createClient({
    url: `${house.app.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: credential,
    retryAttempts: 0,
  });
  const query = `subscription ($runId: UUID!, $after: Int) { runUpdates(runId: $runId, after: $after)
    { type seq status message } }`;
  const begun = Array.from({ length: SUBSCRIBERS }, () => Promise.withResolvers<void>());
  const subscribers = begun.map(async ({ resolve }, n) => {
    // The run has told more than four things when it is under way, and then nothing until it is made to.
    const variables = { runId, ...(n % 2 === 0 && { after: n / 2 }) };
    const seen: Message[] = [];
    for await (const { data } of client.iterate<{ runUpdates: Message }>({ query, variables }))
      if (data && seen.push(data.runUpdates) === 1) resolve();
    return seen;
  });
  await Promise.all([
    ...watchers.map((watcher) => watcher.until(isUnderWay)),
    ...begun.map(({ promise }) => promise),
  ]);
  // Takes its first message only when all is over.
  const idle = house.app.services.runs.follow(runId, 0);

  const reads = jest.spyOn(await nativePool(house.app.services.orm), 'query');
  const statements = () =>
    reads.mock.calls.filter(([query]) => JSON.stringify(query).includes('run_message'));
  for (const batch of ['first', 'second', 'third']) await tellLines(batch, 500);
  await Promise.all(watchers.map((watcher) => watcher.until(({ message }) => message === 'third line 500')));
  expect(statements().length).toBeLessThan(20);
  await cancel();
  expect(await Promise.all(watchers.map(({ closed }) => closed))).toEqual(Array(WATCHERS).fill(1000));
  const stories = [...watchers.map(({ messages }) => messages), ...(await Promise.all(subscribers))];
  for (const messages of stories) {
    expectWhole(messages);
    expect(linesOf(messages)).toHaveLength(1_500);
  }

  const before = statements().length;
  const late: Message[] = [];
  for await (const { type, seq, body } of { [Symbol.asyncIterator]: () => idle })
    late.push({ type, seq, ...body } as Message);
  expectWhole(late);
  expect(late[0]?.seq).toBe(1);
  expect(statements().length - before).toBeLessThan(6);
  reads.mockRestore();
  await client.dispose();
}, 60_000);

/** Resolves when whoever follows next has left. */
function nextToLeave(): Promise<void> {
  const { runs } = house.app.services;
  const follow = runs.follow.bind(runs);
  return new Promise((resolve) => {
    jest.spyOn(runs, 'follow').mockImplementationOnce((id, after) => {
      const followed = follow(id, after);
      const leave = followed.return?.bind(followed);
      if (leave) followed.return = () => leave().finally(resolve);
      return followed;
    });
  });
}

/** More than the kernel's buffers of both ends take, which may grow to 10 MB. */
const FLOOD = { lines: 2_000, characters: 8_000 };

it('cuts off who takes nothing, holds up nobody for it, and lets it go on where it was', async () => {
  const cut = nextToLeave();
  const slow = watchFrom();
  await slow.until(isUnderWay);
  const quick = watchFrom();
  await quick.until(isUnderWay);
  slow.socket.pause();
  await tellLines('flood', FLOOD.lines, FLOOD.characters);
  await quick.until(({ message }) => message?.startsWith(`flood line ${FLOOD.lines}.`) === true);
  await cut;
  slow.socket.resume();
  expect(await slow.closed).toBe(1006);
  await cancel();
  expect(await quick.closed).toBe(1000);
  expectWhole(quick.messages);
  expect(linesOf(slow.messages).length).toBeLessThan(FLOOD.lines);
  const again = watchFrom(slow.messages.at(-1)?.seq);
  expect(await again.closed).toBe(1000);
  const whole = [...slow.messages, ...again.messages];
  expectWhole(whole);
  expect(linesOf(whole)).toHaveLength(FLOOD.lines);
}, 60_000);
