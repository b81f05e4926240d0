/** Name of the job that executes one run; its payload is { runId }. */
export const EXECUTE_RUN = 'execute-run';

/** Name of the job that says in OpenLineage how far one run has come; its payload is { runId }. */
export const EMIT_LINEAGE = 'emit-lineage';
