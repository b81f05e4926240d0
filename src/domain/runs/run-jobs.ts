/** Name of the job that executes one run; its payload is { runId }. */
export const EXECUTE_RUN = 'execute-run';
