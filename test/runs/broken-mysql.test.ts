import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { hasMariaDb, type MariaDbFixture, startMariaDb } from '../support/mariadb.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const ROWS = 20_000;
/** The condition under which a statement stops in the middle; a row of a table would stay locked by the load. */
const HALTS = `= ${ROWS / 2} AND IS_USED_LOCK('gate') IS NOT NULL`;

const definition = (source: string, target: string, engine = 'BATCH') => `
apiVersion: v1
name: broken
engine: ${engine}
retry: { type: fixed, interval: PT0.1S, maxAttempts: 3 }
source: { id: s, ${source} }
transformations: { id: ids, type: sql, inputs: [s], sql: "SELECT id FROM s" }
target: { id: t, ${target}, mode: APPEND }
`;
const ids = Array.from({ length: ROWS }, (_, index) => index + 1);

(hasMariaDb() ? describe : describe.skip)('MariaDB that dies in the middle', () => {
  let house: RunHouse;
  let maria: MariaDbFixture;
  let reading: string;

  beforeAll(async () => {
    [house, maria] = await Promise.all([openRunHouse(), startMariaDb()]);
    await house.connect('shop', maria.target);
    await house.warehouse.query('CREATE TABLE public.read (id int)');
    const query = `SELECT seq AS id, IF(seq ${HALTS}, SLEEP(60), 0) AS halt FROM seq_1_to_${ROWS}`;
    reading = await house.createPipeline(
      definition(
        `type: mysql, connection: shop, query: "${query}"`,
        'type: postgres, connection: warehouse, table: public.read',
      ),
    );
  });

  afterAll(async () => {
    await house.close();
    await maria.close();
  });

  const makeHaltingTable = (name: string) =>
    maria.run(
      `CREATE TABLE ${name} (id bigint)`,
      `CREATE TRIGGER halt_${name} BEFORE INSERT ON ${name} FOR EACH ROW BEGIN IF NEW.id ${HALTS} THEN DO SLEEP(60); END IF; END`,
    );
  const idsIn = async (table: string) =>
    (await maria.rows(`SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => Number(id));
  const asleep = () => maria.rows("SELECT id FROM information_schema.processlist WHERE state = 'User sleep'");

  /** The server's id of the connection whose statement has come to where it halts. */
  async function halted(): Promise<number> {
    let found: unknown;
    await eventually(async () => {
      found = (await asleep())[0]?.['id'];
      return found !== undefined;
    });
    return Number(found);
  }

  async function runUntilHalted(pipelineId: string, die: (connection: number) => Promise<void>) {
    await maria.run("DO GET_LOCK('gate', 0)");
    const runId = await house.start(pipelineId);
    const watched = house.watch(runId);
    const connection = await halted();
    await maria.run("DO RELEASE_LOCK('gate')");
    await die(connection);
    await watched.closed;
    const { body: log } = await house.engineer('GET', `/api/v1/runs/${runId}/logs?level=ERROR`);
    return { run: (await house.engineer('GET', `/api/v1/runs/${runId}`)).body, log };
  }
  const cut = (connection: number) => maria.run(`KILL CONNECTION ${connection}`);
  const readIds = async () =>
    (await house.warehouse.query('SELECT id FROM public.read ORDER BY id')).rows.map(({ id }) => id);

  it('has each row once in its table, when a load was cut', async () => {
    await makeHaltingTable('written');
    const source = `type: postgres, connection: warehouse, query: "SELECT i AS id FROM generate_series(1, ${ROWS}) AS i"`;
    const pipelineId = await house.createPipeline(
      definition(source, 'type: mysql, connection: shop, table: written'),
    );
    const { run } = await runUntilHalted(pipelineId, cut);
    expect(run).toMatchObject({
      overallStatus: 'COMPLETED',
      rowsWritten: ROWS,
      error: null,
      healing: [{ taskId: 't', strategy: 'RECONNECT', attempt: 1, outcome: 'SUCCESS' }],
    });
    expect(await idsIn('written')).toEqual(ids);
  });

  const pushedInto = (table: string) => {
    const source = `type: mysql, connection: shop, query: "SELECT seq AS id FROM seq_1_to_${ROWS}"`;
    return house.createPipeline(definition(source, `type: mysql, connection: shop, table: ${table}`, 'AUTO'));
  };

  it('has each row once in its table, when a graph pushed down to it was cut', async () => {
    await makeHaltingTable('pushed');
    const { run } = await runUntilHalted(await pushedInto('pushed'), cut);
    expect(run).toMatchObject({
      engine: 'JDBC',
      overallStatus: 'COMPLETED',
      error: null,
      rowsRead: null,
      rowsWritten: ROWS,
      taskStatuses: { s: 'SUCCESS', ids: 'SUCCESS', t: 'SUCCESS' },
      healing: [{ taskId: 't', strategy: 'RECONNECT', attempt: 1, outcome: 'SUCCESS' }],
    });
    expect(await idsIn('pushed')).toEqual(ids);
  });

  it('is let go of within five seconds when a run pushed down to it is cancelled', async () => {
    await makeHaltingTable('stopped');
    await maria.run("DO GET_LOCK('gate', 0)");
    const runId = await house.start(await pushedInto('stopped'));
    const watched = house.watch(runId);
    await halted();
    const start = performance.now();
    const { status } = await house.engineer('POST', `/api/v1/runs/${runId}/cancel`);
    expect(status).toBe(200);
    await watched.closed;
    expect(performance.now() - start).toBeLessThan(5_000);
    await maria.run("DO RELEASE_LOCK('gate')");
    expect((await house.engineer('GET', `/api/v1/runs/${runId}`)).body).toMatchObject({
      engine: 'JDBC',
      overallStatus: 'CANCELLED',
    });
    await eventually(async () => (await asleep()).length === 0);
    expect(await idsIn('stopped')).toEqual([]);
  });

  it('is read again from its beginning when it comes back', async () => {
    const { run, log } = await runUntilHalted(reading, cut);
    expect(run).toMatchObject({
      overallStatus: 'COMPLETED',
      rowsRead: ROWS,
      rowsWritten: ROWS,
      healing: [{ taskId: 's', strategy: 'RECONNECT', attempt: 1, outcome: 'SUCCESS' }],
    });
    expect(log).toEqual([expect.objectContaining({ taskId: 's', attempt: 1, level: 'ERROR' })]);
    expect(await readIds()).toEqual(ids);
  });

  it('fails the run when its process was killed for good; the target is as it was', async () => {
    const { run, log } = await runUntilHalted(reading, () => maria.close());
    expect(run).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringMatching(/^s: \w/),
      taskStatuses: { s: 'FAILED', ids: 'UPSTREAM_FAILED', t: 'UPSTREAM_FAILED' },
    });
    expect(run.error).not.toContain(maria.target.password);
    expect(run.healing).toHaveLength(2);
    expect(log).toHaveLength(3);
    expect(await readIds()).toEqual(ids);
  });
});
