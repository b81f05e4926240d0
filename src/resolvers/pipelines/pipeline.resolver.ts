import { GraphQLJSONObject, GraphQLUUID } from 'graphql-scalars';
import { Arg, Args, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { createPipeline } from '../../domain/pipelines/create-pipeline.js';
import { deletePipeline } from '../../domain/pipelines/delete-pipeline.js';
import { getPipeline } from '../../domain/pipelines/get-pipeline.js';
import { pipelineSchema } from '../../domain/pipelines/index.js';
import { listPipelines } from '../../domain/pipelines/list-pipelines.js';
import { getRevision, listRevisions } from '../../domain/pipelines/list-revisions.js';
import { movePipeline } from '../../domain/pipelines/move-pipeline.js';
import { updatePipeline } from '../../domain/pipelines/update-pipeline.js';
import { validateDefinition } from '../../domain/pipelines/validate-definition.js';
import { validatePipeline } from '../../domain/pipelines/validate-pipeline.js';
import { Masked } from '../../entities/masked.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { PipelineRevision } from '../../entities/pipelines/pipeline-revision.js';
import { Permission } from '../permission.js';
import { DefinitionReport, PipelineReport } from './definition-report.js';
import {
  CreatePipelineInput,
  PipelinesArgs,
  RevisionsArgs,
  UpdatePipelineInput,
  ValidateDefinitionInput,
} from './pipeline-inputs.js';

@Resolver(() => Pipeline)
export class PipelineResolver {
  @Query(() => [Pipeline])
  @Permission({ platform: 'read' })
  pipelines(
    @Ctx() context: RequestContext,
    @Args(() => PipelinesArgs) query: PipelinesArgs,
  ): Promise<Pipeline[]> {
    return listPipelines(context, query);
  }

  @Query(() => Pipeline)
  @Permission({ platform: 'read' })
  pipeline(@Ctx() context: RequestContext, @Arg('id', () => GraphQLUUID) id: string): Promise<Pipeline> {
    return getPipeline(context, id);
  }

  @Query(() => GraphQLJSONObject, { description: 'JSON Schema (2020-12) of pipeline definitions.' })
  @Permission({ platform: 'read' })
  @Masked('never')
  pipelineSchema(): Readonly<Record<string, unknown>> {
    return pipelineSchema;
  }

  @Query(() => DefinitionReport, { description: 'Judges a definition that need not be stored.' })
  @Permission({ platform: 'write' })
  validateDefinition(
    @Ctx() context: RequestContext,
    @Arg('input', () => ValidateDefinitionInput) input: ValidateDefinitionInput,
  ): Promise<DefinitionReport> {
    return validateDefinition(context, input);
  }

  @Query(() => [PipelineRevision], { description: 'Newest first.' })
  @Permission({ platform: 'read' })
  pipelineRevisions(
    @Ctx() context: RequestContext,
    @Arg('pipelineId', () => GraphQLUUID) pipelineId: string,
    @Args(() => RevisionsArgs) query: RevisionsArgs,
  ): Promise<PipelineRevision[]> {
    return listRevisions(context, pipelineId, query);
  }

  @Query(() => PipelineRevision)
  @Permission({ platform: 'read' })
  pipelineRevision(
    @Ctx() context: RequestContext,
    @Arg('pipelineId', () => GraphQLUUID) pipelineId: string,
    @Arg('version', () => Int) version: number,
  ): Promise<PipelineRevision> {
    return getRevision(context, pipelineId, version);
  }

  @Mutation(() => PipelineReport, {
    description:
      'A draft that validates is VALIDATED from now on. Errors are a VALIDATION_ERROR that lists them all.',
  })
  @Permission({ platform: 'write' })
  validatePipeline(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
  ): Promise<PipelineReport> {
    return validatePipeline(context, id);
  }

  @Mutation(() => Pipeline, { description: 'From ACTIVE to DEPRECATED.' })
  @Permission({ platform: 'write' })
  deprecatePipeline(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
  ): Promise<Pipeline> {
    return movePipeline(context, id, 'deprecation');
  }

  @Mutation(() => Pipeline, { description: 'From DEPRECATED to RETIRED: it does not run any more.' })
  @Permission({ platform: 'write' })
  retirePipeline(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
  ): Promise<Pipeline> {
    return movePipeline(context, id, 'retirement');
  }

  @Mutation(() => Pipeline)
  @Permission({ platform: 'write' })
  createPipeline(
    @Ctx() context: RequestContext,
    @Arg('input', () => CreatePipelineInput) input: CreatePipelineInput,
  ): Promise<Pipeline> {
    return createPipeline(context, input);
  }

  @Mutation(() => Pipeline, {
    description: 'Adds one to the version and stores a revision, whatever changed.',
  })
  @Permission({ platform: 'write' })
  updatePipeline(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
    @Arg('input', () => UpdatePipelineInput) input: UpdatePipelineInput,
  ): Promise<Pipeline> {
    return updatePipeline(context, id, input);
  }

  @Mutation(() => Boolean, { description: 'Removes all versions and runs as well.' })
  @Permission({ platform: 'delete' })
  async deletePipeline(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
  ): Promise<boolean> {
    await deletePipeline(context, id);
    return true;
  }
}
