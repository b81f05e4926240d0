import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openRunHouse, type RunHouse } from './run-house.js';

const RUNS = 100;
const PIPELINES = 5;
const ROWS = 3;

/** Each run adds rows of its own, that name it. */
const definition = (table: string) => `
apiVersion: v1
name: ${table}
engine: BATCH
source: { id: numbers, type: inline, rows: ${JSON.stringify(Array.from({ length: ROWS }, (_, n) => ({ n })))} }
transformations: { id: named, type: sql, inputs: [numbers], sql: "SELECT {{ run.id }} AS run, n FROM numbers" }
target: { id: t, type: postgres, connection: warehouse, table: public.${table}, mode: APPEND }
`;

describe('a hundred runs at once', () => {
  let house: RunHouse;
  const tables = Array.from({ length: PIPELINES }, (_, index) => `many_${index}`);
  let pipelines: string[];

  beforeAll(async () => {
    house = await openRunHouse();
    for (const table of tables) await house.warehouse.query(`CREATE TABLE public.${table} (run text, n int)`);
    pipelines = await Promise.all(tables.map((table) => house.createPipeline(definition(table))));
  });
  afterAll(() => house.close());

  it('are all COMPLETED, and each is once in its table', async () => {
    const runIds = await Promise.all(
      Array.from({ length: RUNS }, (_, n) => house.start(pipelines[n % PIPELINES] ?? '')),
    );
    expect(new Set(runIds).size).toBe(RUNS);
    // One after the other: what has ended meanwhile closes at once.
    for (const runId of runIds) await house.watch(runId).closed;

    const { body: runs } = await house.engineer('GET', '/api/v1/runs?limit=1000');
    const ends = new Map(
      (runs as { runId: string; overallStatus: string }[]).map((run) => [run.runId, run.overallStatus]),
    );
    expect(runIds.map((id) => [id, ends.get(id)])).toEqual(runIds.map((id) => [id, 'COMPLETED']));

    for (const [index, table] of tables.entries()) {
      const { rows } = await house.warehouse.query(`SELECT run, n FROM public.${table} ORDER BY run, n`);
      const own = runIds.filter((_, n) => n % PIPELINES === index).sort();
      expect(rows).toEqual(own.flatMap((run) => Array.from({ length: ROWS }, (_, n) => ({ run, n }))));
    }
  }, 60_000);
});
