/** Name of the job that takes up the run that is next, if there is one with a place; its payload is {}. */
export const EXECUTE_RUN = 'execute-run';

/** Name of the job that says in OpenLineage how far one run has come; its payload is { runId }. */
export const EMIT_LINEAGE = 'emit-lineage';
