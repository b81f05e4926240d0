export { type CompiledDefinition, checkParameters, compileDefinition } from './compile-definition.js';
export type {
  ParameterDeclaration,
  ParameterValues,
  PipelineDefinition,
  RetryPolicy,
  Task,
  TaskGraph,
} from './definition/index.js';
export { pipelineSchema } from './definition/index.js';
export { isFaultless, requireFaultless } from './judge-definition.js';
export { requireRunnable } from './lifecycle.js';
