import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLJSONObject, GraphQLUUID } from 'graphql-scalars';
import {
  Arg,
  Ctx,
  FieldResolver,
  Info,
  Int,
  Mutation,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { cancelRun } from '../../domain/runs/cancel-run.js';
import { taskErrors, taskStatuses } from '../../domain/runs/describe-tasks.js';
import { getRun, getRunWithTasks } from '../../domain/runs/get-run.js';
import { listRuns } from '../../domain/runs/list-runs.js';
import { retryRun } from '../../domain/runs/retry-run.js';
import { type LogLevel, runLogs } from '../../domain/runs/run-logs.js';
import { runStatus } from '../../domain/runs/run-status.js';
import { startRun } from '../../domain/runs/start-run.js';
import { watchRun } from '../../domain/runs/watch-run.js';
import { Masked } from '../../entities/masked.js';
import { Run } from '../../entities/runs/run.js';
import { RUN_PRIORITIES, RunPriority, RunStatus } from '../../entities/runs/run-enums.js';
import type { RunMessage } from '../../entities/runs/run-message.js';
import { Permission } from '../permission.js';
import { selects } from '../selects.js';
import {
  CancelRunResult,
  RunCheckResult,
  RunLogEntry,
  RunLogLevel,
  RunPipelineInput,
  RunTaskState,
  RunUpdate,
} from './run-types.js';

interface RunUpdatesArgs {
  runId: string;
  after?: number | null;
}

const MADE_OF_TASKS = new Set(['taskStatuses', 'errors', 'tasks', 'quality']);

@Resolver(() => Run)
export class RunResolver {
  @Query(() => Run)
  @Permission({ platform: 'read' })
  run(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Run> {
    return selects(info, MADE_OF_TASKS) ? getRunWithTasks(context, id) : getRun(context, id);
  }

  @Query(() => [Run], { description: 'The newest first.' })
  @Permission({ platform: 'read' })
  runs(
    @Ctx() context: RequestContext,
    @Arg('pipelineId', () => GraphQLUUID, { nullable: true }) pipelineId: string | null,
    @Arg('status', () => RunStatus, { nullable: true }) status: RunStatus | null,
    @Arg('limit', () => Int, { defaultValue: 100, description: 'At most 1000.' }) limit: number,
  ): Promise<Run[]> {
    return listRuns(context, { pipelineId, status, limit });
  }

  @Query(() => [RunLogEntry], { description: 'In order of writing.' })
  @Permission({ platform: 'read' })
  runLogs(
    @Ctx() context: RequestContext,
    @Arg('runId', () => GraphQLUUID) runId: string,
    @Arg('taskId', () => String, { nullable: true }) taskId: string | null,
    @Arg('level', () => RunLogLevel, { nullable: true, description: 'And what is worse.' })
    level: LogLevel | null,
    @Arg('limit', () => Int, { defaultValue: 100, description: 'At most 1000.' }) limit: number,
    @Arg('after', () => Int, { nullable: true, description: 'Only what follows this number.' }) after:
      | number
      | null,
  ): Promise<RunLogEntry[]> {
    return runLogs(context, runId, { taskId, level, limit, after });
  }

  @Mutation(() => Run, { description: 'Returns at once; follow it with runUpdates.' })
  @Permission({ platform: 'write' })
  runPipeline(
    @Ctx() context: RequestContext,
    @Arg('pipelineId', () => GraphQLUUID) pipelineId: string,
    @Arg('input', () => RunPipelineInput, { nullable: true }) input: RunPipelineInput | null,
  ): Promise<Run> {
    return startRun(context, pipelineId, input ?? {});
  }

  @Mutation(() => Run, {
    description: 'A new run of one that failed or was cancelled, from the tasks on that did not succeed.',
  })
  @Permission({ platform: 'write' })
  retryRun(@Ctx() context: RequestContext, @Arg('runId', () => GraphQLUUID) runId: string): Promise<Run> {
    return retryRun(context, runId);
  }

  @Mutation(() => CancelRunResult, { description: 'Returns when the run is CANCELLED, within 5 s.' })
  @Permission({ platform: 'write' })
  cancelRun(
    @Ctx() context: RequestContext,
    @Arg('runId', () => GraphQLUUID) runId: string,
  ): Promise<CancelRunResult> {
    return cancelRun(context, runId);
  }

  @Subscription(() => RunUpdate, {
    description:
      'The present state, then everything after it; or everything after a number. Ends with the run.',
    subscribe: ({ args, context }: { args: RunUpdatesArgs; context: RequestContext }) =>
      watchRun(context, args.runId, args.after ?? undefined) as unknown as AsyncIterable<unknown>,
  })
  @Permission({ platform: 'read' })
  runUpdates(
    @Root() { type, seq, runId, timestamp, body }: RunMessage,
    @Arg('runId', () => GraphQLUUID) _runId: string,
    @Arg('after', () => Int, { nullable: true }) _after: number | null,
  ): RunUpdate {
    return { ...body, type, seq, runId, timestamp };
  }

  @FieldResolver(() => RunStatus)
  overallStatus(@Root() run: Run): RunStatus {
    return runStatus(run.state);
  }

  @FieldResolver(() => RunPriority)
  priority(@Root() run: Run): RunPriority {
    return RUN_PRIORITIES[run.priority] ?? RunPriority.MEDIUM;
  }

  @FieldResolver(() => GraphQLJSONObject, { description: 'Task id to status.' })
  @Masked('never')
  async taskStatuses(@Root() run: Run, @Ctx() context: RequestContext): Promise<Record<string, string>> {
    return taskStatuses(await context.loaders.tasksOfRun.load(run.id));
  }

  @FieldResolver(() => GraphQLJSONObject, { description: 'Task id to error.' })
  @Masked('always')
  async errors(@Root() run: Run, @Ctx() context: RequestContext): Promise<Record<string, string>> {
    return taskErrors(await context.loaders.tasksOfRun.load(run.id));
  }

  @FieldResolver(() => [RunTaskState], { description: 'In topological order.' })
  tasks(@Root() run: Run, @Ctx() context: RequestContext): Promise<RunTaskState[]> {
    return context.loaders.tasksOfRun.load(run.id);
  }

  @FieldResolver(() => [RunCheckResult], { description: 'Of all quality checks that were tried.' })
  async quality(@Root() run: Run, @Ctx() context: RequestContext): Promise<RunCheckResult[]> {
    const tasks = await context.loaders.tasksOfRun.load(run.id);
    return tasks.flatMap(({ taskId, checks }) => (checks ?? []).map((check) => ({ ...check, taskId })));
  }

  @FieldResolver(() => Int, { nullable: true, description: 'From start to end, once it has ended.' })
  durationMs(@Root() run: Run): number | null {
    return run.startedAt && run.finishedAt ? run.finishedAt.getTime() - run.startedAt.getTime() : null;
  }
}
