import type { FileOwners } from './file-owners.js';
import type { QualityCheckSpec, TaskSpec } from './task-spec.js';

/** What every back end of a run offers. One session belongs to one run; its state is the Parquet files in the run's directory. */

export type EngineKind = 'BATCH' | 'STREAM' | 'JDBC';
/** The least first. */
export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface PostgresConnectionTarget {
  type: 'postgres';
  host: string;
  port: number;
  database: string;
  user: string;
  password?: string;
  /** `true` verifies the certificate; an object gives its own authority or switches verification off. */
  ssl?: boolean | { ca?: string; rejectUnauthorized?: boolean };
}

export interface MysqlConnectionTarget {
  type: 'mysql';
  host: string;
  port: number;
  database: string;
  user: string;
  password?: string;
  ssl?: boolean | { ca?: string; rejectUnauthorized?: boolean };
}

export interface HttpConnectionTarget {
  type: 'http';
  baseUrl: string;
  /** Credentials included. */
  headers: Readonly<Record<string, string>>;
  /** Whether a private address may be reached; set from CONNECTION_ALLOWED_HOSTS. */
  allowPrivate: boolean;
}

export type FileConnectionTarget =
  | {
      type: 'file';
      storage: 'local';
      /** Absolute, below one of `filesRoots`. */
      root: string;
    }
  | {
      type: 'file';
      storage: 's3';
      bucket: string;
      /** Without slashes at its ends; empty for the whole bucket. */
      prefix: string;
      region: string;
      /** Of an S3-compatible service; Amazon's own when absent. */
      endpoint?: string;
      forcePathStyle?: boolean;
      accessKeyId?: string;
      secretAccessKey?: string;
      sessionToken?: string;
      allowPrivate: boolean;
    };

export type ConnectionTarget =
  | PostgresConnectionTarget
  | MysqlConnectionTarget
  | HttpConnectionTarget
  | FileConnectionTarget;

export interface SessionOptions {
  runId: string;
  /** As `plan` was told. */
  workspaceId?: string;
  /** Intermediate results live here, one `<taskId>.parquet` per finished source or transformation. Created when missing. */
  runDirectory: string;
  /**
   * Megabytes (10^6 bytes) the back end's buffers may take together. 512 or more is
   * sensible; resident memory may reach two to three times this.
   */
  memoryLimitMb: number;
  threads: number;
  /** Megabytes (10^6 bytes) that may be spilled to disk; 10 times the memory limit when absent. */
  spillLimitMb?: number;
  /** Directories below which an absolute path of a file source or target may lie. */
  filesRoots: readonly string[];
  /** The directory that relative paths start from and may not leave. */
  filesBase: string;
  /** Whose the server's files are. Without it all are everybody's. */
  fileOwners?: FileOwners;
  /** What `plan` gave. Without it the files of sources are read only by tasks of their own. */
  tasks?: readonly EngineTask[];
  /** Of the workspace, hexadecimal: under it `mask` makes HMACs of values. Differs between workspaces and stays the same between runs. */
  maskKey: string;
  /** Called in the server process when a task that names the connection starts. Its rejection fails the task as CONNECTION. */
  resolveConnection(name: string): Promise<ConnectionTarget>;
}

export interface EngineTask {
  id: string;
  /** Ids of the tasks whose results this one reads; they must have finished before. */
  inputs: readonly string[];
  spec: TaskSpec;
  /** Tried on the result of a source or transformation. */
  checks?: readonly QualityCheckSpec[];
  /** Tasks whose results nothing else reads, in topological order: they are computed as part of this one. */
  within?: readonly EngineTask[];
}

/** A task as the run's graph has it. */
export interface GraphTask extends EngineTask {
  /** Everything that must finish before: the inputs, and what it merely waits for. */
  dependsOn: readonly string[];
  /** It cannot be part of another: it has a retry or a timeout of its own, or one of several targets waits for it. */
  alone?: boolean;
}

/** What one attempt at a task is told besides the task. */
export interface TaskAttempt {
  /** Where an incremental source stopped at the last successful run. */
  watermark?: string;
  /**
   * Where an incremental source must stop that was read before in this run, since targets may have what it gave then;
   * null when it gave nothing.
   */
  until?: string | null;
  /** How many times the task ran out of memory in this run: each halves the batch and the threads, and spills more. */
  outOfMemory?: number;
}

export interface TaskProgress {
  /** 0 to 100. */
  percent: number;
  rows: number;
}

export interface TaskHooks extends TaskAttempt {
  /** Aborting interrupts the task. A reason named `TimeoutError` gives the error kind TIMEOUT, any other CANCELLED. */
  signal: AbortSignal;
  log(level: LogLevel, message: string): void;
  progress?(progress: TaskProgress): void;
}

export interface TaskOutcome {
  rows: number;
  /** Size of the written file, when the task wrote one. */
  bytes?: number;
  /** The written file, or the table as `schema.name`. */
  output?: string;
  /** A target only: an earlier attempt of the same run had already written it, so nothing was written now. */
  alreadyDone?: boolean;
  /** Of an incremental source: the greatest value it read, as text; absent when it read none. */
  watermark?: string;
  /** What the task did to succeed all the same. */
  healing?: readonly TaskHealing[];
  /** One for each check of the task, in their order. */
  checks?: readonly QualityCheckResult[];
  /** Columns of the result, or of the table written. */
  columns?: readonly ResultColumn[];
  /** By the ids of the tasks within this one. */
  within?: Readonly<Record<string, WithinOutcome>>;
}

/** What is known of a task that was computed as part of another. */
export interface WithinOutcome {
  /** Absent where counting would have cost another pass. */
  rows?: number;
  columns: readonly ResultColumn[];
}

export interface TaskHealing {
  strategy: 'WIDEN_TARGET' | 'QUARANTINE';
  /** A sentence; without values of rows. */
  reason: string;
}

export interface QualityCheckResult {
  index: number;
  passed: boolean;
  /** Rows that break the check, where it is about rows. */
  failedRows?: number;
  /** A sentence that says what was found. */
  message: string;
}

export interface ResultColumn {
  name: string;
  /** The engine's name of the type: DuckDB's for BATCH, the database's for JDBC. */
  type: string;
}

export interface EngineSession {
  /** Runs one task. Safe to repeat: the same task of the same run has one result. Rejects with EngineError only. */
  execute(task: EngineTask, hooks: TaskHooks): Promise<TaskOutcome>;
  /** Interrupts what is still running and ends the back end. The files in the run's directory stay. */
  close(): Promise<void>;
}

/** What an author wrote into a field, in a language of the engine. */
export type AuthorText =
  | { language: 'select'; text: string; inputs: readonly string[] }
  | { language: 'expression' | 'orderTerm'; text: string; field: string }
  | { language: 'measure'; text: string; field: string; groupBy: readonly string[] }
  | { language: 'javascript' | 'regex'; text: string };

export interface Engine {
  readonly kind: EngineKind;
  /**
   * Which tasks are carried out as one. Each task given is in the answer once: as a unit, or within one. Without the
   * workspace, a back end that is open to some workspaces only is not chosen.
   */
  plan(tasks: readonly GraphTask[], workspaceId?: string): readonly EngineTask[];
  open(options: SessionOptions): Promise<EngineSession>;
  /**
   * For each text what is wrong with it whatever the data may be; undefined where nothing is, and where it could not be
   * read in time. Nothing is executed. Never rejects.
   */
  judge?(texts: readonly AuthorText[]): Promise<readonly (string | undefined)[]>;
}
