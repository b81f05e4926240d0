export { compileDefinition } from './compile-definition.js';
export type { PipelineDefinition, RetryPolicy, Task, TaskGraph } from './definition/index.js';
