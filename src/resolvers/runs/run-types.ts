import { GraphQLDateTime, GraphQLJSONObject, GraphQLSafeInt, GraphQLUUID } from 'graphql-scalars';
import { Field, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { LogLevel } from '../../domain/runs/run-logs.js';
import { Masked } from '../../entities/masked.js';
import { RunPriority, RunStatus, RunTaskStatus } from '../../entities/runs/run-enums.js';

export const RunLogLevel = { DEBUG: 'DEBUG', INFO: 'INFO', WARN: 'WARN', ERROR: 'ERROR' } as const;
registerEnumType(RunLogLevel, { name: 'RunLogLevel', description: 'The least first.' });

const RunUpdateType = { run: 'run', task: 'task', log: 'log' } as const;
registerEnumType(RunUpdateType, { name: 'RunUpdateType' });

@InputType()
export class RunPipelineInput {
  @Field(() => String, { nullable: true, description: 'Counts for this run alone.' })
  yamlDefinition?: string | null;

  @Field(() => String, { nullable: true, description: "The token's sub when absent." })
  triggeredBy?: string | null;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: "Of the definition's declared parameters, by id; one it does not declare is an error.",
  })
  parameters?: Record<string, unknown> | null;

  @Field(() => RunPriority, {
    nullable: true,
    description: 'Of the runs that wait for a place, the higher go first. MEDIUM when absent.',
  })
  priority?: RunPriority | null;
}

@ObjectType()
export class CancelRunResult {
  @Field(() => GraphQLUUID)
  runId!: string;

  @Field(() => RunStatus)
  status!: RunStatus;

  @Field(() => String)
  @Masked('always')
  message!: string;
}

@ObjectType()
export class RunLogEntry {
  @Field(() => Int, { description: 'Pass it on as `after` to go on behind this entry.' })
  seq!: number;

  @Field(() => GraphQLUUID)
  runId!: string;

  @Field(() => String, { nullable: true, description: 'Absent for the run itself.' })
  @Masked('never')
  taskId?: string;

  @Field(() => Int, { nullable: true })
  attempt?: number;

  @Field(() => GraphQLDateTime)
  timestamp!: Date;

  @Field(() => RunLogLevel)
  level!: LogLevel;

  @Field(() => String)
  @Masked('always')
  message!: string;
}

@ObjectType({ description: "A node of a run's task graph, as it stands." })
export class RunTaskState {
  @Field(() => String)
  @Masked('never')
  taskId!: string;

  @Field(() => RunTaskStatus)
  status!: RunTaskStatus;

  @Field(() => Int, { description: 'The attempt under way or the last, from 1; 0 before the first.' })
  attempt!: number;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'Rows it produced, where they were counted.' })
  rows!: number | null;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'Bytes it wrote.' })
  bytes!: number | null;

  @Field(() => Int, { nullable: true, description: 'Of an attempt under way, where that is known.' })
  percent!: number | null;

  @Field(() => String, { nullable: true })
  @Masked('always')
  error!: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  startedAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  finishedAt!: Date | null;
}

@ObjectType({ description: 'What a quality check of a task found.' })
export class RunCheckResult {
  @Field(() => String)
  @Masked('never')
  taskId!: string;

  @Field(() => String)
  @Masked('never')
  type!: string;

  @Field(() => String, { description: 'ERROR fails the task, WARNING is noted.' })
  @Masked('never')
  severity!: string;

  @Field(() => Boolean)
  passed!: boolean;

  @Field(() => GraphQLSafeInt, { nullable: true })
  failedRows?: number;

  @Field(() => String)
  @Masked('always')
  message!: string;
}

@ObjectType({ description: 'One message about a run; which fields are set depends on its type.' })
export class RunUpdate {
  @Field(() => RunUpdateType)
  type!: keyof typeof RunUpdateType;

  @Field(() => Int, { description: 'Pass it on as `after` to resume behind this message.' })
  seq!: number;

  @Field(() => GraphQLUUID)
  runId!: string;

  @Field(() => GraphQLDateTime)
  timestamp!: Date;

  @Field(() => String, { nullable: true, description: 'run: RunStatus; task: RunTaskStatus.' })
  @Masked('never')
  status?: string;

  @Field(() => String, { nullable: true })
  @Masked('never')
  taskId?: string;

  @Field(() => Int, { nullable: true })
  attempt?: number;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'task: rows it produced, or has so far.' })
  rows?: number;

  @Field(() => Int, { nullable: true, description: 'task: how far it has come, where that is known.' })
  percent?: number;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'task: bytes it wrote.' })
  bytes?: number;

  @Field(() => String, { nullable: true })
  @Masked('always')
  error?: string;

  @Field(() => String, { nullable: true, description: 'log: DEBUG, INFO, WARN or ERROR.' })
  @Masked('never')
  level?: string;

  @Field(() => String, { nullable: true, description: 'log: the line.' })
  @Masked('always')
  message?: string;
}
