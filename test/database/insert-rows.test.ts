import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { insertRows } from '../../src/database/insert-rows.js';
import { newUuid } from '../../src/entities/ids.js';
import { Run } from '../../src/entities/runs/run.js';
import { RunTask } from '../../src/entities/runs/run-task.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const AT = new Date('2026-03-01T10:20:30.456Z');
/** What a placeholder, an escape or the end of a literal could be taken for. */
const HOSTILE = `? ?? \\? $1 :name @x 'it''s' "q" \\'; DROP TABLE run; -- \n /* é 🎈 */`;

describe('insertRows', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  function newRun(): Run {
    return Object.assign(new Run(), {
      id: newUuid(),
      organizationId: 'org_mine',
      workspaceId: newUuid(),
      pipelineId: newUuid(),
      pipelineVersion: 1,
      yamlDefinition: HOSTILE,
      parameters: { [HOSTILE]: [HOSTILE, 1.5, null, true] },
      engine: 'BATCH',
      priority: 1,
      triggeredBy: HOSTILE,
      taskCount: 2,
      lastSeq: 1,
      createdAt: AT,
    });
  }
  const tasksOf = ({ id: runId }: Run, ...taskIds: string[]) =>
    taskIds.map((taskId, position) => Object.assign(new RunTask(), { runId, taskId, position }));

  it('writes what the ORM reads back, whatever characters it is made of', async () => {
    const run = newRun();
    const tasks = tasksOf(run, HOSTILE, 'b');
    await insertRows(database.orm.em.fork(), [Run, [run]], [RunTask, tasks]);
    const em = database.orm.em.fork();
    const read = await em.findOneOrFail(Run, { id: run.id }, { filters: false });
    expect({ ...read }).toEqual({ ...run });
    const readTasks = await em.find(RunTask, { runId: run.id }, { orderBy: { position: 'asc' } });
    expect(readTasks.map((task) => ({ ...task }))).toEqual(tasks.map((task) => ({ ...task })));
  });

  it('writes all or nothing', async () => {
    const run = newRun();
    const em = database.orm.em.fork();
    await expect(insertRows(em, [Run, [run]], [RunTask, tasksOf(run, 'same', 'same')])).rejects.toThrow(
      /run_task_pkey/,
    );
    expect(await em.count(Run, { id: run.id }, { filters: false })).toBe(0);
  });
});
