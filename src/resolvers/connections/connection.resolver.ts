import { GraphQLUUID } from 'graphql-scalars';
import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { connectionSchema } from '../../domain/connections/connection-schema.js';
import { createConnection } from '../../domain/connections/create-connection.js';
import { deleteConnection } from '../../domain/connections/delete-connection.js';
import { getConnection } from '../../domain/connections/get-connection.js';
import { listConnections } from '../../domain/connections/list-connections.js';
import { testConnection } from '../../domain/connections/test-connection.js';
import { updateConnection } from '../../domain/connections/update-connection.js';
import { Connection } from '../../entities/connections/connection.js';
import { Permission } from '../permission.js';
import { ConnectionSchema, ConnectionTest } from './connection-answers.js';
import { ConnectionsArgs, CreateConnectionInput, UpdateConnectionInput } from './connection-inputs.js';

@Resolver(() => Connection)
export class ConnectionResolver {
  @Query(() => [Connection])
  @Permission({ platform: 'read' })
  connections(
    @Ctx() context: RequestContext,
    @Args(() => ConnectionsArgs) query: ConnectionsArgs,
  ): Promise<Connection[]> {
    return listConnections(context, query);
  }

  @Query(() => Connection)
  @Permission({ platform: 'read' })
  connection(@Ctx() context: RequestContext, @Arg('id', () => GraphQLUUID) id: string): Promise<Connection> {
    return getConnection(context, id);
  }

  @Query(() => ConnectionSchema, { description: 'Tables and columns that the connection leads to.' })
  @Permission({ platform: 'read' })
  connectionSchema(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
  ): Promise<ConnectionSchema> {
    return connectionSchema(context, id);
  }

  @Mutation(() => Connection)
  @Permission({ platform: 'write' })
  createConnection(
    @Ctx() context: RequestContext,
    @Arg('input', () => CreateConnectionInput) input: CreateConnectionInput,
  ): Promise<Connection> {
    return createConnection(context, input);
  }

  @Mutation(() => Connection, { description: 'What is absent stays, credentials too.' })
  @Permission({ platform: 'write' })
  updateConnection(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
    @Arg('input', () => UpdateConnectionInput) input: UpdateConnectionInput,
  ): Promise<Connection> {
    return updateConnection(context, id, input);
  }

  @Mutation(() => Boolean, { description: 'A CONFLICT names the pipelines that refer to it.' })
  @Permission({ platform: 'delete' })
  async deleteConnection(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
  ): Promise<boolean> {
    await deleteConnection(context, id);
    return true;
  }

  @Mutation(() => ConnectionTest, {
    description: 'Reaches the system with the credentials, within 10 seconds.',
  })
  @Permission({ platform: 'write' })
  testConnection(
    @Ctx() context: RequestContext,
    @Arg('id', () => GraphQLUUID) id: string,
  ): Promise<ConnectionTest> {
    return testConnection(context, id);
  }
}
