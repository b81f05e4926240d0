import type { TaskOutcome } from '../engine.js';
import type { EngineErrorKind } from '../engine-error.js';
import type { TaskKind, TaskSpec } from '../task-spec.js';
import { abortError } from './abort.js';
import { runChecks } from './checks/run-checks.js';
import { toEngineError } from './classify-error.js';
import { runUnit } from './run-unit.js';
import type { TaskContext } from './task-context.js';
import { runCast } from './tasks/cast-transformation.js';
import { runFileSource } from './tasks/file-source.js';
import { runFileTarget } from './tasks/file-target.js';
import { runHttpSource } from './tasks/http-source.js';
import { runInlineSource } from './tasks/inline-source.js';
import { runJavascriptTransformation } from './tasks/javascript-transformation.js';
import { runMysqlSource } from './tasks/mysql-source.js';
import { runMysqlTarget } from './tasks/mysql-target.js';
import { runPostgresCopy } from './tasks/postgres-copy.js';
import { runPostgresSource } from './tasks/postgres-source.js';
import { runPostgresTarget } from './tasks/postgres-target.js';
import { runSelectTransformation } from './tasks/select-transformation.js';

type Runner<Spec extends TaskSpec> = (context: TaskContext, spec: Spec) => Promise<TaskOutcome>;
type SpecName = { [S in TaskSpec as `${S['kind']}:${S['type']}`]: S };

const RUNNERS: { [Name in keyof SpecName]?: Runner<SpecName[Name]> } = {
  'source:file': runFileSource,
  'source:http': runHttpSource,
  'source:inline': runInlineSource,
  'source:mysql': runMysqlSource,
  'source:postgres': runPostgresSource,
  'transformation:sql': runSelectTransformation,
  'transformation:cast': runCast,
  'transformation:filter': runSelectTransformation,
  'transformation:rename': runSelectTransformation,
  'transformation:deduplicate': runSelectTransformation,
  'transformation:aggregate': runSelectTransformation,
  'transformation:javascript': runJavascriptTransformation,
  'transformation:join': runSelectTransformation,
  'transformation:mask': runSelectTransformation,
  'target:file': runFileTarget,
  'target:mysql': runMysqlTarget,
  'target:postgres': (context, spec) =>
    context.task.within ? runPostgresCopy(context, spec) : runPostgresTarget(context, spec),
};

const KIND_OF_FAILURE: Record<TaskKind, EngineErrorKind> = {
  source: 'SOURCE',
  transformation: 'SQL',
  target: 'TARGET',
};

/** Runs one task in the child process and brings every failure into EngineError. */
export async function runTask(context: TaskContext): Promise<TaskOutcome> {
  const { spec } = context.task;
  try {
    const run = RUNNERS[`${spec.kind}:${spec.type}` as keyof SpecName] as Runner<TaskSpec> | undefined;
    if (!run) throw new Error(`The engine has no ${spec.kind} of type ${spec.type}.`);
    const isUnit = context.task.within !== undefined && spec.kind === 'transformation';
    const outcome = await (isUnit ? runUnit(context) : run(context, spec));
    const { checks = [] } = context.task;
    return checks.length > 0 ? { ...outcome, checks: await runChecks(context, checks) } : outcome;
  } catch (error) {
    if (context.signal.aborted) throw abortError(context.signal);
    throw toEngineError(error, KIND_OF_FAILURE[spec.kind]);
  }
}
