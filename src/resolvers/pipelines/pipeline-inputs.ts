import { GraphQLJSONObject, GraphQLUUID } from 'graphql-scalars';
import { ArgsType, Field, InputType, Int } from 'type-graphql';

@ArgsType()
export class PipelinesArgs {
  @Field(() => GraphQLUUID, { nullable: true, description: "Only the token's own workspace is allowed." })
  workspaceId?: string | null;

  @Field(() => String, { nullable: true, description: 'Part of the name.' })
  search?: string | null;

  @Field(() => Int, { nullable: true, defaultValue: 1000, description: 'At most 1000.' })
  limit!: number;
}

@InputType()
abstract class PipelineSettings {
  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => String, { nullable: true, description: 'Cron expression of five fields.' })
  scheduleCron?: string | null;

  @Field(() => [String], { nullable: true })
  tags?: string[];

  @Field(() => GraphQLUUID, { nullable: true })
  sourceConnectionId?: string | null;

  @Field(() => GraphQLUUID, { nullable: true })
  targetConnectionId?: string | null;

  @Field(() => Int, { nullable: true })
  maxRetries?: number;

  @Field(() => Int, { nullable: true })
  retryDelaySeconds?: number;

  @Field(() => Int, { nullable: true })
  timeoutSeconds?: number;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'Names of notification channels: { onSuccess: [], onFailure: [] }.',
  })
  notifications?: Record<string, string[]> | null;

  @Field(() => Boolean, { nullable: true })
  isActive?: boolean;
}

@InputType()
export class CreatePipelineInput extends PipelineSettings {
  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'YAML, at most 1 MiB. It may not validate yet.' })
  yamlDefinition!: string;
}

@InputType({ description: 'What is absent stays as it is.' })
export class UpdatePipelineInput extends PipelineSettings {
  @Field(() => String, { nullable: true })
  name?: string;

  @Field(() => String, { nullable: true })
  yamlDefinition?: string;
}

@InputType()
export class ValidateDefinitionInput {
  @Field(() => String, { description: 'YAML, at most 1 MiB.' })
  yamlDefinition!: string;
}

@ArgsType()
export class RevisionsArgs {
  @Field(() => Int, { nullable: true, defaultValue: 50, description: 'At most 1000.' })
  limit!: number;

  @Field(() => Int, { nullable: true, description: 'Only versions below this one.' })
  before?: number | null;
}
