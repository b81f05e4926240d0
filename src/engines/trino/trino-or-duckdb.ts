import { BatchEngine } from '../batch/batch-engine.js';
import type { AuthorText, Engine, EngineSession, EngineTask, GraphTask, SessionOptions } from '../engine.js';
import { fitsTrino, isForTrino } from './trino-fit.js';
import { TrinoSession } from './trino-session.js';
import type { TrinoSettings } from './trino-settings.js';

/**
 * BATCH past one machine: a graph whose datasets all lie in catalogs of Trino, and which is one statement there, is
 * carried out by it; any other by DuckDB.
 */
export class TrinoOrDuckDbEngine implements Engine {
  readonly kind = 'BATCH';
  readonly #duckDb = new BatchEngine();

  constructor(private readonly settings: TrinoSettings) {}

  plan(tasks: readonly GraphTask[], workspaceId?: string): readonly EngineTask[] {
    const target = tasks.find(({ spec }) => spec.kind === 'target');
    if (!target || !fitsTrino(this.settings, tasks, workspaceId)) return this.#duckDb.plan(tasks);
    return [{ ...target, within: tasks.filter((task) => task !== target) }];
  }

  open(options: SessionOptions): Promise<EngineSession> {
    return isForTrino(this.settings, options.tasks ?? [], options.workspaceId)
      ? Promise.resolve(new TrinoSession(this.settings, options))
      : this.#duckDb.open(options);
  }

  /** Only code, which always is DuckDB's part: Trino may carry out SQL that DuckDB would not read. */
  async judge(texts: readonly AuthorText[]): Promise<readonly (string | undefined)[]> {
    const code = texts.filter(({ language }) => language === 'javascript');
    const faults = await this.#duckDb.judge(code);
    return texts.map((text) => faults[code.indexOf(text)]);
  }
}
