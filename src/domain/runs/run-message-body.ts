import type { LogLevel } from '../../engines/engine.js';
import type { RunStatus, RunTaskStatus } from '../../entities/runs/run-enums.js';

/** Bodies of run messages, by type (completion, Runs: log entry and stream message). */
export interface RunMessageBodies {
  run: { status: RunStatus; error?: string };
  task: {
    taskId: string;
    status: RunTaskStatus;
    attempt: number;
    rows?: number;
    percent?: number;
    bytes?: number;
    error?: string;
  };
  log: { taskId?: string; attempt?: number; level: LogLevel; message: string };
}

export type NewRunMessage = {
  [T in keyof RunMessageBodies]: { type: T; body: RunMessageBodies[T] };
}[keyof RunMessageBodies];
