import { BigIntType, OptionalProps } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { RunTaskStatus } from './run-enums.js';

export interface RunTaskCheck {
  type: string;
  severity: 'ERROR' | 'WARNING';
  passed: boolean;
  failedRows?: number;
  message: string;
}

/** A node of a run's task graph. Reached only through its run, which carries the tenant. */
@Entity()
export class RunTask {
  [OptionalProps]?: 'attempt' | 'failures' | 'status';

  @PrimaryKey({ type: 'uuid' })
  runId!: string;

  @PrimaryKey({ type: 'text' })
  taskId!: string;

  /** Place in the topological order, from 0. */
  @Property({ type: 'integer' })
  position!: number;

  @Property({ type: 'text' })
  status: RunTaskStatus = 'PENDING';

  @Property({ type: 'integer', default: 0 })
  attempt: number = 0;

  /** Attempts that failed and count against the retry policy. */
  @Property({ type: 'integer', default: 0 })
  failures: number = 0;

  @Property({ type: 'text', nullable: true })
  error: string | null = null;

  @Property({ type: new BigIntType('number'), nullable: true })
  rows: number | null = null;

  /** How far the attempt under way has come, 0 to 100, where that is known. */
  @Property({ type: 'smallint', nullable: true })
  percent: number | null = null;

  /** Of what it wrote. */
  @Property({ type: new BigIntType('number'), nullable: true })
  bytes: number | null = null;

  /** Columns of its result, as the engine names their types. */
  @Property({ type: 'json', nullable: true })
  columns: { name: string; type: string }[] | null = null;

  /** What its quality checks found, in the order of the definition. */
  @Property({ type: 'json', nullable: true })
  checks: RunTaskCheck[] | null = null;

  /** Of an incremental source: how far it read. It counts for the pipeline when the run has succeeded. */
  @Property({ type: 'text', nullable: true })
  watermark: string | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  startedAt: Date | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  finishedAt: Date | null = null;
}

/** How the tasks of runs are read: in topological order. */
export const tasksByRun = { entity: RunTask, key: 'runId', orderBy: 'position' } as const;
