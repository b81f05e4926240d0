import { GraphQLUUID } from 'graphql-scalars';
import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { createPipeline } from '../../domain/pipelines/create-pipeline.js';
import { deletePipeline } from '../../domain/pipelines/delete-pipeline.js';
import { getPipeline } from '../../domain/pipelines/get-pipeline.js';
import { listPipelines } from '../../domain/pipelines/list-pipelines.js';
import { updatePipeline } from '../../domain/pipelines/update-pipeline.js';
import { Pipeline } from '../../entities/pipelines/pipeline.js';
import { Permission } from '../permission.js';
import { CreatePipelineInput, PipelinesArgs, UpdatePipelineInput } from './pipeline-inputs.js';

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
