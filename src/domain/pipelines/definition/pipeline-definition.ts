import type { EngineKind, EngineTask } from '../../../engines/engine.js';
import type { TaskKind, TaskType } from '../../../engines/task-spec.js';

export type RequestedEngine = 'AUTO' | 'BATCH';

export interface RetryPolicy {
  type: 'fixed' | 'exponential';
  intervalMs: number;
  maxIntervalMs?: number;
  /** Attempts altogether, the first included. */
  maxAttempts: number;
}

export interface PipelineDefinition {
  apiVersion: 'v1';
  name: string;
  description?: string;
  /** As written; `TaskGraph.engine` is what it came to. */
  engine: RequestedEngine;
  retry?: RetryPolicy;
  timeoutMs?: number;
}

export interface Task extends EngineTask {
  kind: TaskKind;
  type: TaskType;
  /** Everything that must finish before this task: what `dependsOn` says and the inputs. */
  dependsOn: readonly string[];
  /** 0 for a task that waits for nothing; otherwise one more than the highest level it waits for. */
  level: number;
  retry?: RetryPolicy;
  timeoutMs?: number;
}

export interface TaskGraph {
  engine: EngineKind;
  /** In topological order. */
  tasks: readonly Task[];
  /** The same tasks by level; those of one level may run at the same time. */
  levels: readonly (readonly Task[])[];
}

export interface DefinitionError {
  message: string;
  /** 1-based position in the YAML text. */
  line: number;
  column: number;
  /** Where in the document, for example `transformations[0].inputs[1]`; empty for the document itself. */
  path: string;
}

export type ParsedDefinition =
  | { ok: true; definition: PipelineDefinition; graph: TaskGraph }
  | { ok: false; errors: DefinitionError[] };
