import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EXECUTE_RUN } from '../../src/domain/runs/run-jobs.js';
import type { ServerProcess } from '../process/server-process.js';
import { eventually } from '../support/eventually.js';
import { type Boundaries, holdUpAt } from './boundaries.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const definition = `
apiVersion: v1
name: twice
source: { id: sales, type: postgres, connection: warehouse, table: public.sale, incremental: { column: id } }
target:
  - { id: ledger, type: postgres, connection: warehouse, table: public.ledger, mode: APPEND }
  - { id: archive, type: postgres, connection: warehouse, table: public.archive, mode: APPEND }
`;

const TASKS = ['sales', 'ledger', 'archive'];
/** Everything a worker writes about the run. */
const journal = [
  'run RUNNING',
  ...TASKS.flatMap((task) => [`${task} RUNNING`, `${task} SUCCESS`]),
  'run COMPLETED',
];
const loads = ['load ledger', 'load archive'];

let house: RunHouse;
let spare: Promise<ServerProcess>;

beforeAll(async () => {
  house = await openRunHouse({ ROLE: 'api' });
  spare = house.startWorker();
});

afterAll(async () => {
  await (await spare).kill('SIGKILL');
  await house.close();
});

/** Another worker need not wait until the lease of the dead one runs out. */
async function handOver(runId: string): Promise<void> {
  const em = house.app.services.orm.em.fork();
  await em.execute(
    `UPDATE "run" SET "lease_until" = now() - interval '1 second' WHERE "id" = ? AND "lease_until" IS NOT NULL`,
    [runId],
  );
  await house.app.services.jobs.enqueue(EXECUTE_RUN, {});
}

/** A statement of the run's worker is held up sooner or later. */
async function reached(watched: readonly Boundaries[]): Promise<{ place: string; boundary: Boundaries }> {
  let found: { place: string; boundary: Boundaries } | undefined;
  await eventually(async () => {
    for (const boundary of watched) {
      const [place] = await boundary.reached();
      if (place !== undefined) found = { place, boundary };
    }
    return found !== undefined;
  }, 60_000);
  if (!found) throw new Error('nothing is held up');
  return found;
}

it('writes each row once however often its workers are killed, before and after all they write and inside loads', async () => {
  await house.warehouse.query(`
    CREATE TABLE public.sale (id int PRIMARY KEY);
    INSERT INTO public.sale SELECT generate_series(1, 1000);
    CREATE TABLE public.ledger (id int);
    CREATE TABLE public.archive (id int)`);
  const inJournal = await holdUpAt(
    house.app.database.url,
    journal,
    `CREATE FUNCTION public.hold_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       PERFORM public.wait_at(coalesce(NEW.body ->> 'taskId', 'run') || ' ' || (NEW.body ->> 'status'));
       RETURN NULL;
     END $$;
     CREATE TRIGGER hold_up AFTER INSERT ON public.run_message FOR EACH ROW
       WHEN (NEW.type <> 'log' AND NEW.body ->> 'status' <> 'PENDING') EXECUTE FUNCTION public.hold_up()`,
  );
  const inLoads = await holdUpAt(
    house.databaseUrl,
    loads,
    `CREATE FUNCTION public.hold_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       PERFORM public.wait_at('load ' || TG_TABLE_NAME);
       RETURN NULL;
     END $$;
     CREATE TRIGGER hold_up AFTER INSERT ON public.ledger EXECUTE FUNCTION public.hold_up();
     CREATE TRIGGER hold_up AFTER INSERT ON public.archive EXECUTE FUNCTION public.hold_up()`,
  );
  const runId = await house.start(await house.createPipeline(definition));

  const seen: string[] = [];
  let rows = 1000;
  const { length: boundaries } = [...journal, ...loads];
  while (seen.length < 2 * boundaries) {
    const { place, boundary } = await reached([inJournal, inLoads]);
    const worker = await spare;
    spare = house.startWorker();
    await worker.kill('SIGKILL');
    if (seen.includes(place)) {
      await boundary.open(place);
      await rm(path.join(house.app.dataDir, 'runs', runId), { recursive: true, force: true });
    } else {
      await boundary.rollBack(place);
    }
    seen.push(place);
    rows += 1;
    await house.warehouse.query('INSERT INTO public.sale VALUES ($1)', [rows]);
    await spare;
    await handOver(runId);
  }
  expect(seen.toSorted()).toEqual([...journal, ...journal, ...loads, ...loads].toSorted());
  await inJournal.close();
  await inLoads.close();

  const first = await house.engineer('GET', `/api/v1/runs/${runId}`);
  expect(first.body).toMatchObject({
    overallStatus: 'COMPLETED',
    attempts: expect.any(Number),
    taskStatuses: { sales: 'SUCCESS', ledger: 'SUCCESS', archive: 'SUCCESS' },
  });
  const second = await house.start(first.body.pipelineId);
  await eventually(
    async () => (await house.engineer('GET', `/api/v1/runs/${second}`)).body.overallStatus === 'COMPLETED',
  );
  const all = Array.from({ length: rows }, (_, index) => index + 1);
  for (const table of ['ledger', 'archive']) {
    const written = await house.warehouse.query(`SELECT id FROM public.${table} ORDER BY id`);
    expect(written.rows.map(({ id }) => id)).toEqual(all);
  }
  const { body } = await house.engineer('GET', `/api/v1/runs/${second}`);
  expect(first.body.rowsRead + body.rowsRead).toBe(rows);
  expect(first.body.rowsWritten + body.rowsWritten).toBe(2 * rows);
}, 240_000);
