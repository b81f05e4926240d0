import { expect } from '@jest/globals';
import type { ConnectionTarget, EngineSession, GraphTask, TaskHooks } from '../../../src/engines/engine.js';
import { JdbcEngine } from '../../../src/engines/jdbc/jdbc-engine.js';
import type { TableTargetMode, TaskSpec } from '../../../src/engines/task-spec.js';

interface TargetFields {
  table?: string;
  mode?: TableTargetMode;
  keys?: readonly string[];
  deleteWhen?: string;
  widen?: boolean;
}

/** Graphs on one connection named `dwh`, and runs of them. */
export class JdbcFixture {
  readonly #engine = new JdbcEngine();
  #run = 0;

  /** @param table where a target writes that names none */
  constructor(
    private readonly type: 'postgres' | 'mysql',
    private readonly table: string,
    private readonly resolveConnection: () => ConnectionTarget,
  ) {}

  get runId(): string {
    return `run-${this.#run}`;
  }

  nextRun(): void {
    this.#run += 1;
  }

  source(id: string, from: { table?: string; query?: string } = { table: id }): GraphTask {
    return task(id, { kind: 'source', type: this.type, connection: 'dwh', ...from });
  }

  transform(id: string, spec: object, inputs: string[]): GraphTask {
    return task(id, { kind: 'transformation', ...spec } as TaskSpec, inputs);
  }

  target(id: string, input: string, more: TargetFields = {}): GraphTask {
    const { table } = this;
    const spec = { kind: 'target', type: this.type, connection: 'dwh', table, mode: 'OVERWRITE' } as const;
    return task(id, { ...spec, ...more }, [input]);
  }

  async push(tasks: GraphTask[], hooks: Partial<TaskHooks> = {}) {
    const [unit, ...more] = this.#engine.plan(tasks);
    expect(more).toEqual([]);
    if (!unit) throw new Error('nothing was planned');
    const session = await this.#open();
    const signal = new AbortController().signal;
    return session.execute(unit, { signal, log: () => undefined, ...hooks }).finally(() => session.close());
  }

  #open(): Promise<EngineSession> {
    return this.#engine.open({
      runId: this.runId,
      runDirectory: '/nowhere',
      memoryLimitMb: 512,
      threads: 1,
      filesBase: '/nowhere',
      filesRoots: [],
      maskKey: '00'.repeat(32),
      resolveConnection: async () => this.resolveConnection(),
    });
  }
}

function task(id: string, spec: TaskSpec, inputs: string[] = []): GraphTask {
  return { id, spec, inputs, dependsOn: inputs };
}
