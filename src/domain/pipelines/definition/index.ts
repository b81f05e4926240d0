export { checkGiven } from './check-parameters.js';
export { inOrder, parseDefinition } from './parse-definition.js';
export type * from './pipeline-definition.js';
export { pipelineSchema } from './pipeline-schema.js';
