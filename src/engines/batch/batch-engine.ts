import type { AuthorText, Engine, EngineSession, EngineTask, GraphTask, SessionOptions } from '../engine.js';
import { BatchSession } from './batch-session.js';
import { judgeTexts } from './judge/judge-process.js';
import { planUnits } from './plan-units.js';

/**
 * DuckDB in a child process per run. User SQL runs in an instance that can reach nothing but the run's own
 * directory, so a definition can neither read the machine nor take the server process down with it.
 */
export class BatchEngine implements Engine {
  readonly kind = 'BATCH';

  plan(tasks: readonly GraphTask[]): EngineTask[] {
    return planUnits(tasks);
  }

  /** Starts the child process (about 150 ms). Rejects with EngineError when it does not come up. */
  open(options: SessionOptions): Promise<EngineSession> {
    return BatchSession.open(options);
  }

  judge(texts: readonly AuthorText[]): Promise<readonly (string | undefined)[]> {
    return judgeTexts(texts);
  }
}
