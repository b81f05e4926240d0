export type * from './pipeline-definition.js';
