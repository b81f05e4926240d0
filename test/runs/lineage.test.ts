import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Services } from '../../src/context.js';
import { emitRunEvents, sweepLineage } from '../../src/domain/lineage/index.js';
import { createLogger } from '../../src/logger.js';
import { eventually } from '../support/eventually.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const posted: { eventType: string; run: { runId: string } }[] = [];
const collector = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    posted.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.writeHead(201).end();
  });
});
let house: RunHouse;

beforeAll(async () => {
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  house = await openRunHouse({
    OPENLINEAGE_URL: `http://127.0.0.1:${port}/api/v1/lineage`,
    RUN_CONCURRENCY_PER_PIPELINE: '1',
  });
});
afterAll(async () => {
  await house?.close();
  collector.close();
});

async function toldOf(runId: string) {
  return (await house.engineer('GET', `/api/v1/lineage/events?runId=${runId}`)).body;
}

/** START, and how it ended. */
async function eventsOf(runId: string) {
  const read = async () =>
    (await toldOf(runId)).filter(({ eventType }: { eventType: string }) => eventType !== 'RUNNING');
  await eventually(async () => (await read()).length === 2);
  return read();
}

it('says in OpenLineage what a run read and wrote, to its columns, and posts it', async () => {
  const pipelineId = await house.createPipeline(
    `
apiVersion: v1
name: told
source: { id: people, type: postgres, connection: warehouse, table: public.people }
transformations:
  - { id: hidden, type: mask, inputs: [people], columns: { email: { method: HASH } } }
  - { id: sums, type: aggregate, inputs: [hidden], groupBy: [email], measures: { total: "sum(amount)" } }
target: { id: t, type: postgres, connection: warehouse, table: public.sums, mode: OVERWRITE }
`,
    { name: 'told' },
  );
  await house.warehouse.query(
    "CREATE TABLE public.people (email text, amount int); INSERT INTO public.people VALUES ('a@x.test', 1)",
  );
  const runId = await house.start(pipelineId);
  await house.watch(runId).closed;
  const [start, complete] = await eventsOf(runId);
  expect(start).toMatchObject({
    eventType: 'START',
    event: { run: { runId }, job: { namespace: 'opsgraph.default', name: 'told' } },
  });
  const { hostname, port, pathname } = new URL(house.databaseUrl);
  const dataset = (table: string) => ({
    namespace: `postgres://${hostname}:${port}`,
    name: `${pathname.slice(1)}.public.${table}`,
  });
  const field = (name: string, subtype: string, masking: boolean) => ({
    inputFields: [
      { ...dataset('people'), field: name, transformations: [{ type: 'DIRECT', subtype, masking }] },
    ],
  });
  expect(complete.event).toMatchObject({
    eventType: 'COMPLETE',
    inputs: [
      {
        ...dataset('people'),
        facets: {
          dataSource: { name: 'warehouse' },
          schema: {
            fields: [
              { name: 'email', type: 'VARCHAR' },
              { name: 'amount', type: 'INTEGER' },
            ],
          },
        },
        inputFacets: { inputStatistics: { rowCount: 1 } },
      },
    ],
    outputs: [
      {
        ...dataset('sums'),
        facets: {
          columnLineage: {
            fields: {
              email: field('email', 'TRANSFORMATION', true),
              total: field('amount', 'AGGREGATION', false),
            },
          },
        },
        outputFacets: { outputStatistics: { rowCount: 1 } },
      },
    ],
  });
  const typesOf = () => posted.filter(({ run }) => run.runId === runId).map(({ eventType }) => eventType);
  await eventually(() => typesOf().includes('COMPLETE'));
  expect(typesOf().filter((type) => type !== 'RUNNING')).toEqual(['START', 'COMPLETE']);
});

it('says once what a run reads, as soon as that is known and more is to come', async () => {
  const runId = await house.start(
    await house.createPipeline(`
apiVersion: v1
name: under-way
source: { id: read, type: postgres, connection: warehouse, query: "SELECT 1 AS one" }
transformations:
  - { id: first, type: javascript, inputs: [read], code: "(row) => row" }
  - { id: b, type: sql, inputs: [first], sql: "SELECT count(*) AS n FROM range(1000000000000) AS r (i), first WHERE i % 3 = 1" }
target: { id: t, type: file, path: under-way.csv }
`),
  );
  await eventually(async () => (await toldOf(runId)).length === 2);
  const [, { event: running, eventTime }] = await toldOf(runId);
  expect(running).toMatchObject({
    eventType: 'RUNNING',
    eventTime,
    run: { runId },
    inputs: [{ facets: { schema: { fields: [{ name: 'one', type: 'INTEGER' }] } } }],
    outputs: [{ namespace: 'file' }],
  });
  expect(running.outputs[0].facets).not.toHaveProperty('columnLineage');
  await house.engineer('POST', `/api/v1/runs/${runId}/cancel`);
  await house.watch(runId).closed;
  const types = async () => (await toldOf(runId)).map(({ eventType }: { eventType: string }) => eventType);
  await eventually(async () => (await types()).includes('ABORT'));
  await emitRunEvents(house.app.services, runId, new AbortController().signal);
  expect(await types()).toEqual(['START', 'RUNNING', 'ABORT']);
});

it('answers while it looks where columns come from, leaves out what is beyond all bounds, and tries that once', async () => {
  const lines: { msg: string; reason?: string; runId?: string }[] = [];
  const log = createLogger(
    { logLevel: 'warn' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const other = await openRunHouse({}, { log });
  try {
    const delays = monitorEventLoopDelay();
    delays.enable();
    const runId = await other.start(
      await other.createPipeline(`
apiVersion: v1
name: unions
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: b, type: sql, inputs: [a], sql: "${Array(300).fill('SELECT x FROM a').join(' UNION ALL ')}" }
target: { id: t, type: file, path: unions.csv }
`),
    );
    const told = async () => (await other.engineer('GET', `/api/v1/lineage/events?runId=${runId}`)).body;
    const last = async () => (await told()).at(-1);
    await eventually(async () => (await last())?.eventType === 'COMPLETE');
    delays.disable();
    expect(delays.max / 1e6).toBeLessThan(1_000);
    const [output] = (await last()).event.outputs;
    expect(output).toMatchObject({
      facets: { schema: { fields: [{ name: 'x' }] } },
      outputFacets: { outputStatistics: { rowCount: 300 } },
    });
    expect(output.facets).not.toHaveProperty('columnLineage');
    await emitRunEvents(other.app.services, runId, new AbortController().signal);
    expect(lines.filter(({ msg }) => msg === 'column lineage of the run left out')).toMatchObject([
      { runId, reason: 'SQL of 300 SELECTs, 1 columns wide' },
    ]);
  } finally {
    await other.close();
  }
});

it('says why a run failed, and which run one retries', async () => {
  const runId = await house.start(
    await house.createPipeline(`
apiVersion: v1
name: failing
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: b, type: sql, inputs: [a], sql: "SELECT error('no such luck, ann@x.test') AS x FROM a" }
target: { id: t, type: file, path: never.csv }
`),
  );
  await house.watch(runId).closed;
  const [, fail] = await eventsOf(runId);
  expect(fail.event).toMatchObject({
    eventType: 'FAIL',
    run: { facets: { errorMessage: { message: expect.stringMatching(/no such luck, •••/) } } },
    outputs: [
      {
        namespace: 'file',
        facets: { dataSource: { name: 'file', uri: `file://${house.app.dataDir}/files/never.csv` } },
      },
    ],
  });
  expect(fail.event.run.facets).not.toHaveProperty('parent');
  const parents: string[] = [runId];
  for (let retries = 0; retries < 2; retries += 1) {
    const { body } = await house.engineer('POST', `/api/v1/runs/${parents.at(-1)}/retry`);
    await house.watch(body.runId, { after: 0 }).closed;
    const job = { namespace: 'opsgraph.default', name: 'p' };
    for (const { event } of await eventsOf(body.runId)) {
      expect(event.run.facets.parent).toEqual({
        _producer: expect.any(String),
        _schemaURL: 'https://openlineage.io/spec/facets/1-1-0/ParentRunFacet.json#/$defs/ParentRunFacet',
        run: { runId: parents.at(-1) },
        job,
        root: { run: { runId }, job },
      });
    }
    parents.push(body.runId);
  }
});

it('tells of a run that could not even begin its tasks, and nothing of one that no worker took up', async () => {
  const pipelineId = await house.createPipeline(`
apiVersion: v1
name: long
source: { id: a, type: inline, rows: [{ x: 1 }] }
transformations: { id: b, type: sql, inputs: [a], sql: "SELECT count(*) AS n FROM range(1000000000000) AS r (i), a WHERE i % 3 = 1" }
target: { id: t, type: file, path: never.csv }
`);
  const ahead = await house.start(pipelineId);
  await house.watch(ahead).until(({ taskId, status }) => taskId === 'b' && status === 'RUNNING');
  const unbound = await house.start(pipelineId);
  const never = await house.start(pipelineId);
  const { orm } = house.app.services;
  await orm.em
    .fork()
    .execute(`UPDATE "run" SET "yaml_definition" = 'name: nothing' WHERE "id" = ?`, [unbound]);
  for (const runId of [never, ahead]) await house.engineer('POST', `/api/v1/runs/${runId}/cancel`);
  await house.watch(unbound).closed;
  expect((await eventsOf(unbound))[1].event).toMatchObject({
    eventType: 'FAIL',
    run: { facets: { errorMessage: { message: expect.any(String) } } },
    inputs: [],
    outputs: [],
  });
  expect((await eventsOf(ahead))[1].eventType).toBe('ABORT');
  const untold: unknown[] = [];
  const enqueue = async (_name: string, payload: unknown) => untold.push(payload);
  const jobs = { ...house.app.services.jobs, enqueue } as unknown as Services['jobs'];
  await sweepLineage({ ...house.app.services, jobs });
  expect(untold).toEqual([]);
});
