export { checkGiven } from './check-parameters.js';
export { parseDefinition } from './parse-definition.js';
export type * from './pipeline-definition.js';
export { pipelineSchema } from './pipeline-schema.js';
