import type { EngineTask, TaskOutcome } from '../../engines/engine.js';
import type { RunTaskCheck } from '../../entities/runs/run-task.js';

/** What the checks of a task found, with what the definition says of each. */
export function taskChecks({ checks = [] }: EngineTask, outcome: TaskOutcome): RunTaskCheck[] {
  return (outcome.checks ?? []).flatMap(({ index, ...found }) => {
    const check = checks.find((each) => each.index === index);
    return check ? [{ ...found, type: check.type, severity: check.severity }] : [];
  });
}

export function failedChecks(
  checks: readonly RunTaskCheck[],
  severity: RunTaskCheck['severity'],
): RunTaskCheck[] {
  return checks.filter((check) => !check.passed && check.severity === severity);
}
