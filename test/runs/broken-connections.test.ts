import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CuttableProxy, openCuttableProxy } from '../support/cuttable-proxy.js';
import { eventually } from '../support/eventually.js';
import { openRunHouse, type RunHouse } from './run-house.js';

let house: RunHouse;
let proxy: CuttableProxy;
let service: Server;
/** How many answers of the second page break off in the middle. */
let breaks = 0;

const ROWS = 20_000;
const FROM = 'postgres';
/** Stops in the middle for as long as the gate is closed. */
const HALTING = `SELECT i AS id, CASE WHEN i = ${ROWS / 2} AND NOT (SELECT open FROM public.gate) THEN pg_sleep(60)::text END AS halt FROM generate_series(1, ${ROWS}) AS i`;

beforeAll(async () => {
  service = createServer((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://service').searchParams.get('page'));
    const body = JSON.stringify(page < 3 ? [{ id: page * 2 - 1 }, { id: page * 2 }] : []);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    if (page !== 2 || breaks === 0) return void response.end(body);
    breaks -= 1;
    response.write(body.slice(0, 5), () => response.destroy());
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => service.once('listening', resolve));
  const host = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  house = await openRunHouse({ CONNECTION_ALLOWED_HOSTS: host });
  proxy = await openCuttableProxy(house.databaseUrl);
  await connect('shaky', proxy.url);
  await house.engineer('POST', '/api/v1/connections', {
    name: 'service',
    type: 'http',
    config: { baseUrl: `http://${host}` },
  });
  await house.warehouse.query(
    'CREATE TABLE public.gate (open boolean); INSERT INTO public.gate VALUES (true)',
  );
});

afterAll(async () => {
  await house.close();
  await proxy.close();
  service.close();
});

beforeEach(() => gate(true));

async function connect(name: string, url: string): Promise<void> {
  const { hostname, port, pathname, username, password } = new URL(url);
  const { status } = await house.engineer('POST', '/api/v1/connections', {
    name,
    type: FROM,
    config: { host: hostname, port: Number(port), database: pathname.slice(1) },
    credentials: { username: decodeURIComponent(username), password: decodeURIComponent(password) },
  });
  expect(status).toBe(201);
}

const gate = (open: boolean) => house.warehouse.query('UPDATE public.gate SET open = $1', [open]);

/** A statement of the engine's has come to where it halts. */
const halted = () =>
  eventually(async () => {
    const { rows } = await house.warehouse.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'opsgraph' AND wait_event = 'PgSleep'",
    );
    return rows.length > 0;
  });

const runOf = async (runId: string) => (await house.engineer('GET', `/api/v1/runs/${runId}`)).body;
const idsIn = async (table: string) =>
  (await house.warehouse.query(`SELECT id::int FROM public.${table} ORDER BY id`)).rows.map(({ id }) => id);
const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

const definition = (source: string, target: string, more = '') => `
apiVersion: v1
name: broken
engine: BATCH
retry: { type: fixed, interval: PT0.1S, maxAttempts: 3 }
source: { id: s, ${source} }
${more}
target: { id: t, ${target} }
`;
const halting = `type: ${FROM}, connection: shaky, query: "${HALTING}"`;
const table = (name: string, connection = 'warehouse', mode = 'APPEND') =>
  `type: ${FROM}, connection: ${connection}, table: public.${name}, mode: ${mode}`;
const ONLY_ID = 'transformations: { id: ids, type: sql, inputs: [s], sql: "SELECT id FROM s" }';

/** Runs to the halt, cuts the connection, and lets the database be reached again when `comesBack` says so. */
async function cutInTheMiddle(pipelineId: string, comesBack: boolean) {
  await gate(false);
  const runId = await house.start(pipelineId);
  const watched = house.watch(runId);
  await halted();
  await proxy.cut();
  await watched.until(({ status }) => status === 'HEALING');
  await gate(true);
  if (comesBack) await proxy.mend();
  await watched.closed;
  if (!comesBack) await proxy.mend();
  const { body: log } = await house.engineer('GET', `/api/v1/runs/${runId}/logs?level=ERROR`);
  return { run: await runOf(runId), log };
}

describe('a source that dies in the middle', () => {
  it.each([
    ['and whose rows are computed with', ONLY_ID],
    ['and whose rows go straight across', ''],
  ])('%s is read again when it comes back', async (name, more) => {
    const target = more === '' ? 'straight' : 'computed';
    await house.warehouse.query(`CREATE TABLE public.${target} (id int, halt text)`);
    const pipelineId = await house.createPipeline(definition(halting, table(target), more));
    const { run, log } = await cutInTheMiddle(pipelineId, true);
    expect([name, run]).toMatchObject([
      name,
      { overallStatus: 'COMPLETED', rowsRead: ROWS, rowsWritten: ROWS, error: null },
    ]);
    expect(run.healing).toContainEqual(
      expect.objectContaining({
        taskId: 's',
        strategy: 'RECONNECT',
        attempt: 1,
        outcome: expect.any(String),
      }),
    );
    expect(run.healing.at(-1).outcome).toBe('SUCCESS');
    expect(log).toContainEqual(expect.objectContaining({ taskId: 's', attempt: 1, level: 'ERROR' }));
    expect(await idsIn(target)).toEqual(ids(ROWS));
  });

  it('fails the run after the attempts it has, when it stays away; the target is as it was, and the next run works', async () => {
    await house.warehouse.query('CREATE TABLE public.kept AS SELECT 0 AS id');
    const pipelineId = await house.createPipeline(definition(halting, table('kept'), ONLY_ID));
    const { run, log } = await cutInTheMiddle(pipelineId, false);
    expect(run).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/^s: \w/),
      taskStatuses: { s: 'FAILED', ids: 'UPSTREAM_FAILED', t: 'UPSTREAM_FAILED' },
    });
    expect(run.error).not.toContain(new URL(house.databaseUrl).password);
    expect(run.healing).toHaveLength(2);
    expect(run.healing.every(({ outcome }: { outcome: string }) => outcome === 'FAILED')).toBe(true);
    expect(log).toHaveLength(3);
    expect(await idsIn('kept')).toEqual([0]);
    const next = await house.start(pipelineId);
    await house.watch(next, { after: 0 }).closed;
    expect(await runOf(next)).toMatchObject({ overallStatus: 'COMPLETED', rowsWritten: ROWS });
  });

  it('is asked again for all pages when one of them breaks off', async () => {
    breaks = 2;
    const source =
      'type: http, connection: service, path: "/", paging: { kind: page, parameter: page, start: 1 }';
    const runId = await house.start(await house.createPipeline(definition(source, table('pages'))));
    await house.watch(runId, { after: 0 }).closed;
    const run = await runOf(runId);
    expect(run).toMatchObject({ overallStatus: 'COMPLETED', rowsRead: 4, rowsWritten: 4 });
    expect(run.healing.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['FAILED', 'SUCCESS']);
    expect(await idsIn('pages')).toEqual(ids(4));
  });
});

describe('a target that dies in the middle of a load', () => {
  /** The trigger halts with half of the rows in the table. */
  const create = (name: string) =>
    house.warehouse.query(`
      CREATE TABLE public.${name} (id int);
      CREATE FUNCTION public.${name}_halt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.id = ${ROWS / 2} AND NOT (SELECT open FROM public.gate) THEN PERFORM pg_sleep(60); END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER halt BEFORE INSERT ON public.${name} FOR EACH ROW EXECUTE FUNCTION public.${name}_halt()`);
  const numbers = `type: ${FROM}, connection: warehouse, query: "SELECT i AS id FROM generate_series(1, ${ROWS}) AS i"`;

  it.each([
    ['loaded', ONLY_ID],
    ['copied', ''],
  ])('has each row once when it comes back: %s', async (name, more) => {
    await create(name);
    const pipelineId = await house.createPipeline(definition(numbers, table(name, 'shaky'), more));
    const { run } = await cutInTheMiddle(pipelineId, true);
    expect(run).toMatchObject({ overallStatus: 'COMPLETED', rowsWritten: ROWS });
    expect(run.healing.at(-1)).toMatchObject({ taskId: 't', strategy: 'RECONNECT', outcome: 'SUCCESS' });
    expect(await idsIn(name)).toEqual(ids(ROWS));
  });

  it('is as it was when it stays away', async () => {
    await create('lost');
    const pipelineId = await house.createPipeline(definition(numbers, table('lost', 'shaky'), ONLY_ID));
    const { run } = await cutInTheMiddle(pipelineId, false);
    expect(run).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/^t: \w/),
      taskStatuses: { s: 'SUCCESS', ids: 'SUCCESS', t: 'FAILED' },
    });
    await eventually(async () => (await idsIn('lost')).length === 0);
  });
});
