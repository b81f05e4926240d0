import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openRunHouse, type RunHouse } from './run-house.js';

let house: RunHouse;

beforeAll(async () => {
  house = await openRunHouse();
  await house.warehouse.query(
    `CREATE TABLE public.log AS SELECT generate_series(1, 3) AS id; CREATE TABLE public.log_copy (id int)`,
  );
});

afterAll(() => house.close());

const source = (id: string) =>
  `{ id: ${id}, type: postgres, connection: warehouse, table: public.log, incremental: { column: id } }`;
const definition = (...ids: string[]) => `
apiVersion: v1
name: renamed
source: [${ids.map(source).join(', ')}]
transformations: { id: u, type: sql, inputs: [${ids}], sql: "${ids.map((id) => `SELECT id FROM ${id}`).join(' UNION ALL ')}" }
target: { id: t, type: postgres, connection: warehouse, table: public.log_copy, mode: APPEND }
`;

it('follows a source that is renamed, and renamed again, and not one that is added', async () => {
  const pipelineId = await house.createPipeline(definition('s'));
  let reached = 3;
  const readBy = async (...ids: string[]) => {
    const answer = await house.engineer('PUT', `/api/v1/pipelines/${pipelineId}`, {
      yamlDefinition: definition(...ids),
    });
    expect(answer.status).toBe(200);
    const runId = await house.start(pipelineId);
    await house.watch(runId, { after: 0 }).closed;
    const { body } = await house.engineer('GET', `/api/v1/runs/${runId}`);
    expect(body.overallStatus).toBe('COMPLETED');
    reached += 1;
    await house.warehouse.query('INSERT INTO public.log VALUES ($1)', [reached]);
    return body.rowsRead;
  };
  expect(await readBy('s')).toBe(3);
  expect(await readBy('s2')).toBe(1);
  expect(await readBy('s2')).toBe(1);
  // All that is left of `s` and `s2` is how far `s3` has come.
  expect(await readBy('s3')).toBe(1);
  expect(await readBy('s3', 'added')).toBe(8);
  const { rows } = await house.warehouse.query(
    'SELECT id, count(*)::int AS n FROM public.log_copy GROUP BY id ORDER BY id',
  );
  expect(rows).toEqual([1, 2, 3, 4, 5, 6, 7].map((id) => ({ id, n: 2 })));
});
