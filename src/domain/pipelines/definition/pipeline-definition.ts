import type { AuthorText, EngineKind, EngineTask } from '../../../engines/engine.js';
import type { TaskKind, TaskType } from '../../../engines/task-spec.js';
import type { FieldProblem } from '../../../errors.js';

export type RequestedEngine = EngineKind | 'AUTO';

export type ParameterType = 'STRING' | 'INTEGER' | 'DECIMAL' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP';

/** What a run may be given. */
export interface ParameterDeclaration {
  id: string;
  type: ParameterType;
  required: boolean;
  description?: string;
  /** As written: it may hold placeholders of built-in names and of the environment. */
  default?: string | number | boolean;
  allowedValues?: readonly (string | number | boolean)[];
}

/** What the placeholders of a definition stand for in one run. */
export interface ParameterValues {
  /** As the run request gave them, by parameter id. */
  params: Readonly<Record<string, unknown>>;
  /** By name: run.id, run.startedAt, schedule.date, pipeline.name, workspace.slug. */
  builtIns: Readonly<Record<string, string>>;
  /** The variables of PIPELINE_ENV_ALLOWED that are set, by name. */
  env: Readonly<Record<string, string>>;
}

export interface Contract {
  /** Path or id of an Open Data Contract Standard document. */
  ref: string;
  onBreach: 'BLOCK' | 'WARN';
}

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
  parameters: readonly ParameterDeclaration[];
  contract?: Contract;
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

/** What is allowed and probably not meant. */
export interface DefinitionWarning extends DefinitionError {
  /** Name of the rule, for example `unused-result`. */
  rule: string;
}

/** A text of the definition that only the engine's own parser can judge. */
export interface WrittenText {
  author: AuthorText;
  error(message: string): DefinitionError;
}

export type ParsedDefinition =
  | {
      ok: true;
      definition: PipelineDefinition;
      graph: TaskGraph;
      warnings: DefinitionWarning[];
      texts: WrittenText[];
    }
  | {
      ok: false;
      errors: DefinitionError[];
      texts: WrittenText[];
      /** Of the parameters the run was given; when there are some, the definition itself was not judged further. */
      problems: FieldProblem[];
    };
