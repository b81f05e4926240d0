import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EXECUTE_RUN } from '../../src/domain/runs/run-jobs.js';
import type { ServerProcess } from '../process/server-process.js';
import { eventually } from '../support/eventually.js';
import { hasMariaDb, type MariaDbFixture, startMariaDb } from '../support/mariadb.js';
import { type Boundaries, holdUpAt } from './boundaries.js';
import { openRunHouse, type RunHouse } from './run-house.js';

const ROWS = 1_000;
const ids = Array.from({ length: ROWS }, (_, index) => index + 1);

interface Shape {
  engine?: 'JDBC';
  /** Of the targets, whose ids are those of tables and files. */
  targets: Record<string, string>;
  /** Where it is stopped before the load of the last target is committed; a MySQL table stops by itself. */
  before?: string;
}

const table = (name: string, mode = 'APPEND') =>
  `type: postgres, connection: warehouse, table: public.${name}, mode: ${mode}`;

const shapes = {
  'rows copied from PostgreSQL to PostgreSQL': {
    targets: { copied: table('copied') },
    before: 'load copied',
  },
  'UPSERT into a table without a key': {
    targets: { changed: table('changed', 'UPSERT, keys: [id]') },
    before: 'load changed',
  },
  'two targets pushed down to PostgreSQL': {
    engine: 'JDBC',
    targets: { pushed: table('pushed'), pushed_too: table('pushed_too') },
    before: 'load pushed_too',
  },
  'a file that is replaced': {
    targets: { replaced: 'type: file, path: replaced.csv, mode: OVERWRITE' },
    before: 'replaced RUNNING',
  },
  'a part of a directory': {
    targets: { parts: 'type: file, path: parts, format: csv, mode: APPEND' },
    before: 'parts RUNNING',
  },
  'a table of MySQL': {
    targets: { shipped: 'type: mysql, connection: shop, table: shipped, mode: APPEND' },
  },
} satisfies Record<string, Shape>;
const hasMysql = hasMariaDb();
const isTested = (name: string) => name !== 'a table of MySQL' || hasMysql;

const definition = ({ engine, targets }: Shape) => `
apiVersion: v1
name: killed
engine: ${engine ?? 'BATCH'}
source: { id: sales, type: postgres, connection: warehouse, table: public.sale }
target: [${Object.entries(targets).map(([id, fields]) => `{ id: ${id}, ${fields} }`)}]
`;

/** A run whose first worker dies before it has committed its last load, and the second before it could note that. */
describe('killed before and after its load is committed, a run writes each row once:', () => {
  const tested: [string, Shape][] = Object.entries(shapes).filter(([name]) => isTested(name));
  const before = tested.flatMap(([, shape]) => shape.before ?? []);
  const after = tested.map(([, { targets }]) => `${Object.keys(targets).at(-1)} SUCCESS`);
  const tables = ['copied', 'changed', 'pushed', 'pushed_too'];
  const runs = new Map<string, string>();
  let house: RunHouse;
  let maria: MariaDbFixture | undefined;
  let inJournal: Boundaries;
  let inLoads: Boundaries;
  let worker: ServerProcess | undefined;

  /** Another worker need not wait until the leases of the dead one run out. */
  async function handOver(): Promise<void> {
    const em = house.app.services.orm.em.fork();
    await em.execute(
      `UPDATE "run" SET "lease_until" = now() - interval '1 second' WHERE "lease_until" IS NOT NULL`,
    );
    for (const _ of tested) await house.app.services.jobs.enqueue(EXECUTE_RUN, {});
    worker = await house.startWorker({ JOB_CONCURRENCY: '8' });
  }

  /** Kills the worker when all its runs are held up, each at its place, and undoes what is held up. */
  async function killAt(places: string[]): Promise<void> {
    const boundaries = [inJournal, inLoads];
    let reached: string[][] = [];
    await eventually(async () => {
      reached = await Promise.all(boundaries.map((boundary) => boundary.reached()));
      return places.every((place) => reached.flat().includes(place)) && (await isHalted());
    }, 60_000);
    await worker?.kill('SIGKILL');
    // The engine's process may have cancelled its own statement by now, since the worker is gone.
    for (const [index, boundary] of boundaries.entries()) {
      for (const place of reached[index] ?? []) {
        await boundary.rollBack(place);
        await boundary.open(place);
      }
    }
  }

  const asleep = async () =>
    (await maria?.rows("SELECT id FROM information_schema.processlist WHERE state = 'User sleep'")) ?? [];
  let isGateShut = hasMysql;
  const isHalted = async () => !isGateShut || (await asleep()).length > 0;

  async function openGate(): Promise<void> {
    for (const { id } of await asleep()) await maria?.run(`KILL CONNECTION ${id}`);
    await maria?.run("DO RELEASE_LOCK('gate')");
    isGateShut = false;
  }

  async function prepareShop(): Promise<void> {
    if (!maria) return;
    await house.connect('shop', maria.target);
    await maria.run(
      "DO GET_LOCK('gate', 0)",
      'CREATE TABLE shipped (id int)',
      `CREATE TRIGGER halt BEFORE INSERT ON shipped FOR EACH ROW
       BEGIN IF NEW.id = ${ROWS} AND IS_USED_LOCK('gate') IS NOT NULL THEN DO SLEEP(60); END IF; END`,
    );
  }

  async function holdUp(): Promise<void> {
    inJournal = await holdUpAt(
      house.app.database.url,
      [...before.filter((place) => place.endsWith(' RUNNING')), ...after],
      `CREATE FUNCTION public.hold_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         PERFORM public.wait_at((NEW.body ->> 'taskId') || ' ' || (NEW.body ->> 'status'));
         RETURN NULL;
       END $$;
       CREATE TRIGGER hold_up AFTER INSERT ON public.run_message FOR EACH ROW
         WHEN (NEW.type = 'task') EXECUTE FUNCTION public.hold_up()`,
    );
    inLoads = await holdUpAt(
      house.databaseUrl,
      before.filter((place) => place.startsWith('load ')),
      `CREATE FUNCTION public.hold_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         PERFORM public.wait_at('load ' || TG_TABLE_NAME);
         RETURN NULL;
       END $$;
       ${tables.map((name) => `CREATE TRIGGER hold_up AFTER INSERT ON public.${name} EXECUTE FUNCTION public.hold_up();`).join('\n')}`,
    );
  }

  beforeAll(async () => {
    [house, maria] = await Promise.all([
      openRunHouse({ ROLE: 'api' }),
      hasMysql ? startMariaDb() : undefined,
    ]);
    await prepareShop();
    await house.warehouse.query(`
      CREATE TABLE public.sale AS SELECT generate_series(1, ${ROWS}) AS id;
      ${tables.map((name) => `CREATE TABLE public.${name} (id int);`).join('\n')}
      INSERT INTO public.changed SELECT generate_series(1, 10)`);
    await holdUp();
    for (const [name, shape] of tested)
      runs.set(name, await house.start(await house.createPipeline(definition(shape))));

    await handOver();
    await killAt(before);
    await openGate();
    await handOver();
    await killAt(after);
    await handOver();
    await Promise.all([...runs.values()].map((runId) => house.watch(runId, { after: 0 }).closed));
  }, 120_000);

  afterAll(async () => {
    await worker?.kill('SIGKILL');
    await inJournal.close();
    await inLoads.close();
    await house.close();
    await maria?.close();
  });

  const files = (name: string) => path.join(house.app.dataDir, 'files', name);
  const idsIn = async (file: string) => {
    const [header, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(header).toBe('id');
    return lines.map(Number);
  };
  const idsOf = async (target: string): Promise<number[]> => {
    if (target === 'replaced') return idsIn(files('replaced.csv'));
    if (target === 'parts') {
      const parts = (await readdir(files(target))).filter((name) => !name.startsWith('.'));
      return (await Promise.all(parts.map((part) => idsIn(path.join(files(target), part))))).flat();
    }
    const rows =
      target === 'shipped'
        ? await maria?.rows('SELECT id FROM shipped')
        : (await house.warehouse.query(`SELECT id FROM public.${target}`)).rows;
    return (rows ?? []).map(({ id }) => Number(id));
  };

  for (const [name, shape] of Object.entries<Shape>(shapes)) {
    const test = isTested(name) ? it : it.skip;
    test(name, async () => {
      const { body } = await house.engineer('GET', `/api/v1/runs/${runs.get(name)}`);
      const targets = Object.keys(shape.targets);
      expect(body).toMatchObject({
        overallStatus: 'COMPLETED',
        engine: shape.engine ?? 'BATCH',
        attempts: 3,
        rowsRead: shape.engine === 'JDBC' ? null : ROWS,
        rowsWritten: targets.length * ROWS,
      });
      for (const target of targets) expect((await idsOf(target)).toSorted((a, b) => a - b)).toEqual(ids);
    });
  }
});
