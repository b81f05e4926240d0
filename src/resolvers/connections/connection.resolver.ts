import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Field, InputType, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { createConnection } from '../../domain/connections/create-connection.js';
import { listConnections } from '../../domain/connections/list-connections.js';
import { Connection, ConnectionType } from '../../entities/connections/connection.js';
import { Permission } from '../permission.js';

@InputType()
export class CreateConnectionInput {
  @Field(() => String, { description: 'Unique in the workspace; pipelines name it.' })
  name!: string;

  @Field(() => ConnectionType)
  type!: ConnectionType;

  @Field(() => GraphQLJSONObject, { description: 'postgres: host, port, database, ssl.' })
  config!: Record<string, unknown>;

  @Field(() => GraphQLJSONObject, { description: 'postgres: username, password. Sealed; never read back.' })
  credentials!: Record<string, unknown>;
}

@Resolver(() => Connection)
export class ConnectionResolver {
  @Query(() => [Connection])
  @Permission({ platform: 'read' })
  connections(
    @Ctx() context: RequestContext,
    @Arg('limit', () => Int, { nullable: true, defaultValue: 1000, description: 'At most 1000.' })
    limit: number,
  ): Promise<Connection[]> {
    return listConnections(context, limit);
  }

  @Mutation(() => Connection)
  @Permission({ platform: 'write' })
  createConnection(
    @Ctx() context: RequestContext,
    @Arg('input', () => CreateConnectionInput) input: CreateConnectionInput,
  ): Promise<Connection> {
    return createConnection(context, input);
  }
}
