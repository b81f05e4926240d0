import { GraphQLJSONObject } from 'graphql-scalars';
import { ArgsType, Field, InputType, Int } from 'type-graphql';
import { ConnectionType } from '../../entities/connections/connection.js';

@ArgsType()
export class ConnectionsArgs {
  @Field(() => ConnectionType, { nullable: true })
  type?: ConnectionType | null;

  @Field(() => String, { nullable: true, description: 'Part of the name.' })
  search?: string | null;

  @Field(() => Int, { nullable: true, defaultValue: 1000, description: 'At most 1000.' })
  limit!: number;
}

@InputType()
export class CreateConnectionInput {
  @Field(() => String, { description: 'Unique in the workspace; pipelines name it.' })
  name!: string;

  @Field(() => ConnectionType)
  type!: ConnectionType;

  @Field(() => GraphQLJSONObject, { description: 'As the type asks for, for example host and database.' })
  config!: Record<string, unknown>;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'As the type asks for, for example username and password. Sealed; never read back.',
  })
  credentials?: Record<string, unknown> | null;
}

@InputType()
export class UpdateConnectionInput {
  @Field(() => String, { nullable: true, description: 'Pipelines that name it have to be changed too.' })
  name?: string;

  @Field(() => ConnectionType, { nullable: true, description: 'It cannot be changed.' })
  type?: ConnectionType;

  @Field(() => GraphQLJSONObject, { nullable: true, description: 'Replaces the whole.' })
  config?: Record<string, unknown>;

  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'Replaces the whole; absent, they are kept.',
  })
  credentials?: Record<string, unknown>;
}
