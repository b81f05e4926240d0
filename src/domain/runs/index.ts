export { bindRun } from './bind-run.js';
export { EMIT_LINEAGE } from './run-jobs.js';
