/** Woken when a run has new messages or is gone. */
export function runTopic(runId: string): string {
  return `run:${runId}`;
}

/** Woken when somebody asked for a run to be cancelled. */
export function runCancelTopic(runId: string): string {
  return `run-cancel:${runId}`;
}
