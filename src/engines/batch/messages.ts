import type {
  ConnectionTarget,
  EngineTask,
  LogLevel,
  SessionOptions,
  TaskAttempt,
  TaskOutcome,
} from '../engine.js';
import type { EngineErrorKind } from '../engine-error.js';

/** What the server process and the engine's child process say to each other over node's IPC channel. */

export type ChildOptions = Omit<SessionOptions, 'resolveConnection'>;

export type ToChild =
  | { type: 'open'; options: ChildOptions }
  | {
      type: 'execute';
      id: number;
      task: EngineTask;
      attempt: TaskAttempt;
      /** By the ids of the task and of those within it. */
      connections: Readonly<Record<string, ConnectionTarget>>;
    }
  | { type: 'cancel'; id: number }
  | { type: 'close' };

export interface WireError {
  kind: EngineErrorKind;
  message: string;
  transient: boolean;
  taskId?: string;
}

export type FromChild =
  | { type: 'ready' }
  | { type: 'refused'; error: WireError }
  | { type: 'log'; id: number; level: LogLevel; message: string }
  | { type: 'progress'; id: number; percent: number; rows: number }
  | { type: 'done'; id: number; outcome: TaskOutcome }
  | { type: 'failed'; id: number; error: WireError };
