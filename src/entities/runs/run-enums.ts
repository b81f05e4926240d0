import { registerEnumType } from 'type-graphql';

/** What a run is inside; the API's names are a table in src/domain/runs/run-status.ts. */
export type RunState = 'QUEUED' | 'RUNNING' | 'HEALING' | 'SUCCESS' | 'FAILED' | 'CANCELLED';

export const RunStatus = {
  PENDING: 'PENDING',
  RUNNING: 'RUNNING',
  COMPLETED: 'COMPLETED',
  FAILED: 'FAILED',
  CANCELLED: 'CANCELLED',
} as const;
export type RunStatus = (typeof RunStatus)[keyof typeof RunStatus];
registerEnumType(RunStatus, { name: 'RunStatus', description: 'Platform document, overallStatus.' });

export const RunTaskStatus = {
  PENDING: 'PENDING',
  RUNNING: 'RUNNING',
  HEALING: 'HEALING',
  SUCCESS: 'SUCCESS',
  FAILED: 'FAILED',
  SKIPPED: 'SKIPPED',
  UPSTREAM_FAILED: 'UPSTREAM_FAILED',
  CANCELLED: 'CANCELLED',
} as const;
export type RunTaskStatus = (typeof RunTaskStatus)[keyof typeof RunTaskStatus];
registerEnumType(RunTaskStatus, { name: 'RunTaskStatus' });

export const RunEngine = { BATCH: 'BATCH', STREAM: 'STREAM', JDBC: 'JDBC' } as const;
export type RunEngine = (typeof RunEngine)[keyof typeof RunEngine];
registerEnumType(RunEngine, { name: 'RunEngine' });

export const RunPriority = { LOW: 'LOW', MEDIUM: 'MEDIUM', HIGH: 'HIGH' } as const;
export type RunPriority = (typeof RunPriority)[keyof typeof RunPriority];
registerEnumType(RunPriority, { name: 'RunPriority' });

/** A run's row has the index. */
export const RUN_PRIORITIES: readonly RunPriority[] = ['LOW', 'MEDIUM', 'HIGH'];
export const DEFAULT_PRIORITY = RUN_PRIORITIES.indexOf('MEDIUM');
