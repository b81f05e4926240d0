import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type Json } from '@duckdb/node-api';
import { BatchEngine } from '../../../src/engines/batch/batch-engine.js';
import type {
  ConnectionTarget,
  EngineSession,
  EngineTask,
  LogLevel,
  SessionOptions,
  TaskAttempt,
  TaskOutcome,
} from '../../../src/engines/engine.js';
import type { TaskSpec } from '../../../src/engines/task-spec.js';

export interface EngineFixture {
  /** `files`, `run` and `other` (a directory outside all roots) lie below it. */
  directory: string;
  files: string;
  options: SessionOptions;
  session: EngineSession;
  logs: { level: LogLevel; message: string }[];
  connections: Map<string, ConnectionTarget>;
  run(id: string, spec: TaskSpec, inputs?: string[], signal?: AbortSignal): Promise<TaskOutcome>;
  execute(task: EngineTask, attempt?: TaskAttempt): Promise<TaskOutcome>;
  /** Another session on the same directories. */
  open(changes?: Partial<SessionOptions>): Promise<EngineSession>;
  close(): Promise<void>;
}

/** A real session in its own temporary directories. */
export async function openEngine(changes: Partial<SessionOptions> = {}): Promise<EngineFixture> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'opsgraph-engine-')));
  const files = join(directory, 'files');
  await mkdir(files);
  await mkdir(join(directory, 'other'));
  const connections = new Map<string, ConnectionTarget>();
  const options: SessionOptions = {
    runId: 'run-1',
    runDirectory: join(directory, 'run'),
    memoryLimitMb: 400,
    threads: 2,
    filesBase: files,
    filesRoots: [files],
    maskKey: '0b'.repeat(20),
    resolveConnection: async (name) => {
      const target = connections.get(name);
      if (!target) throw new Error('there is none of that name');
      return target;
    },
    ...changes,
  };
  const opened: EngineSession[] = [];
  const open = async (more: Partial<SessionOptions> = {}) => {
    const session = await new BatchEngine().open({ ...options, ...more });
    opened.push(session);
    return session;
  };
  const session = await open();
  const logs: EngineFixture['logs'] = [];
  return {
    directory,
    files,
    options,
    session,
    logs,
    connections,
    open,
    run: (id, spec, inputs = [], signal = new AbortController().signal) =>
      execute(session, { id, spec, inputs }, signal, logs),
    execute: (task, attempt = {}) =>
      session.execute(task, {
        ...attempt,
        signal: new AbortController().signal,
        log: (level, message) => logs.push({ level, message }),
      }),
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export function execute(
  session: EngineSession,
  task: EngineTask,
  signal: AbortSignal = new AbortController().signal,
  logs: EngineFixture['logs'] = [],
): Promise<TaskOutcome> {
  return session.execute(task, { signal, log: (level, message) => logs.push({ level, message }) });
}

/** The rows of a Parquet file as JSON, read by a DuckDB of the test's own. */
export async function readParquet(path: string): Promise<Record<string, Json>[]> {
  return query(`FROM read_parquet('${path}')`);
}

export async function query(sql: string): Promise<Record<string, Json>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

export function inline(rows: Record<string, unknown>[], columns?: Record<string, string>): TaskSpec {
  return { kind: 'source', type: 'inline', rows, ...(columns && { columns }) };
}

export function sql(text: string): TaskSpec {
  return { kind: 'transformation', type: 'sql', sql: text };
}
