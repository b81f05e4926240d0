import { GraphQLSafeInt, GraphQLUUID } from 'graphql-scalars';
import { Arg, Ctx, Int, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { listLineageEvents } from '../../domain/lineage/index.js';
import { LineageEvent } from '../../entities/lineage/lineage-event.js';
import { Permission } from '../permission.js';

@Resolver(() => LineageEvent)
export class LineageResolver {
  @Query(() => [LineageEvent], { description: 'OpenLineage events of runs, in order of keeping.' })
  @Permission({ platform: 'read' })
  lineageEvents(
    @Ctx() context: RequestContext,
    @Arg('runId', () => GraphQLUUID, { nullable: true }) runId: string | null,
    @Arg('limit', () => Int, { defaultValue: 100, description: 'At most 1000.' }) limit: number,
    @Arg('after', () => GraphQLSafeInt, { nullable: true, description: 'Only what follows this id.' })
    after: number | null,
  ): Promise<LineageEvent[]> {
    return listLineageEvents(context, { runId, limit, after });
  }
}
