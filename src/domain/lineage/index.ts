export { EMIT_LINEAGE } from '../runs/index.js';
export { emitRunEvents, sweepLineage } from './emit-run-events.js';
export { listLineageEvents } from './list-lineage-events.js';
export { POST_LINEAGE, postLineage } from './post-events.js';
