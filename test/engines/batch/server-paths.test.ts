import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BatchEngine } from '../../../src/engines/batch/batch-engine.js';
import type { GraphTask } from '../../../src/engines/engine.js';
import type { TaskSpec } from '../../../src/engines/task-spec.js';
import { type EngineFixture, execute, inline, openEngine, sql } from './engine-fixture.js';

let engine: EngineFixture;

beforeAll(async () => {
  engine = await openEngine();
  const root = join(engine.files, 'root');
  await mkdir(join(root, 'of a lake'), { recursive: true });
  engine.connections.set('lake', { type: 'file', storage: 'local', root });
  await writeFile(join(engine.files, 'bad.csv'), 'id,n\n1,x\n');
  await writeFile(join(engine.files, 'bad.json'), '{"a":1');
  await writeFile(join(engine.files, 'bad.csv.gz'), 'no gzip');
  await writeFile(join(root, 'of a lake', 'bad.parquet'), 'no');
  await mkdir(join(engine.files, 'taken.csv'));
});
afterAll(() => engine.close());

const file = (path: string, more: object): TaskSpec =>
  ({ kind: 'source', type: 'file', path, format: 'csv', ...more }) as TaskSpec;

async function failure(running: Promise<unknown>): Promise<string> {
  const error: unknown = await running.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Error ? error.message : 'none';
}

describe("the server's directories are in no message", () => {
  it.each<[string, TaskSpec, string]>([
    ['a CSV', file('bad.csv', { columns: { n: 'INTEGER' } }), 'file = bad.csv\n'],
    ['a JSON', file('bad.json', { format: 'json' }), 'in file "bad.json", at byte 7'],
    ['a packed file', file('bad.csv.gz', {}), 'not a GZIP stream: bad.csv.gz'],
    [
      'a file of a connection',
      file('of a lake/bad.parquet', { format: 'parquet', connection: 'lake' }),
      "File 'of a lake/bad.parquet' too small",
    ],
    ['inline rows', inline([{ a: 'x' }], { a: 'INTEGER' }), 'in file "failing.ndjson", in line 1'],
    ['SQL that fails on its way', sql("SELECT 'x'::INTEGER AS a"), "Could not convert string 'x' to INT32"],
  ])('of a failure of %s', async (_, spec, told) => {
    const message = await failure(engine.run('failing', spec));
    expect(message).toContain(told);
    expect(message).not.toContain(engine.directory);
    expect(message).not.toMatch(/LINE 1|COPY/);
  });

  it('of a failure of a result that is not there', async () => {
    const spec = { kind: 'target', type: 'file', path: 'o.csv', format: 'csv', mode: 'OVERWRITE' } as const;
    const message = await failure(engine.run('failing', spec, ['nosuch']));
    expect(message).toBe('IO Error: No files found that match the pattern "nosuch.parquet"');
  });

  it('of a failure of a file that is read as a part of a step', async () => {
    const graph: GraphTask[] = [
      { id: 'src', inputs: [], dependsOn: [], spec: file('bad.csv', { columns: { n: 'INTEGER' } }) },
      { id: 'sum', inputs: ['src'], dependsOn: ['src'], spec: sql('SELECT sum(n) AS n FROM src') },
    ];
    const tasks = new BatchEngine().plan(graph);
    const session = await engine.open({ runId: 'run-2', tasks });
    const running = tasks.map((task) => execute(session, task));
    await expect(Promise.all(running)).rejects.toMatchObject({ taskId: 'src' });
    const message = await failure(Promise.all(running));
    expect(message).toContain('file = bad.csv\n');
    expect(message).not.toContain(engine.directory);
  });

  it("of a failure of the run's directory itself", async () => {
    const runDirectory = join(engine.files, 'bad.csv', 'run');
    const message = await failure(engine.open({ runDirectory }));
    expect(message).toBe("The run's directory cannot be made: ENOTDIR");
  });

  it('of what the author wrote nothing is left out', async () => {
    const path = `${engine.directory}/other/x.csv`;
    expect(await failure(engine.run('outside', file(path, {})))).toContain(`no file "${path}"`);
    const id = '3b241101-e2bb-4255-8caf-4136c566a962';
    const message = await failure(engine.run('quoted', sql(`SELECT error('no ./files/.${id}.tmp')`)));
    expect(message).toContain(`no ./files/.${id}.tmp`);
    const unknown = await failure(engine.run('unknown', sql('SELECT nosuch FROM range(1)')));
    expect(unknown).toMatch(/nosuch.*line 1, column 8|LINE 1: .*nosuch/s);
  });
});
