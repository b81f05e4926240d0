import { Entity, Filter, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLJSONObject, GraphQLUUID } from 'graphql-scalars';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { Masked } from '../masked.js';
import { organizationFilter, workspaceFilter } from '../tenancy.js';

export const ConnectionType = {
  postgres: 'postgres',
  mysql: 'mysql',
  file: 'file',
  http: 'http',
  kafka: 'kafka',
} as const;
export type ConnectionType = (typeof ConnectionType)[keyof typeof ConnectionType];
registerEnumType(ConnectionType, { name: 'ConnectionType' });

@Entity()
@Filter(organizationFilter)
@Filter(workspaceFilter)
@ObjectType({ description: 'An outside system that pipelines read from or write to.' })
@Unique({ properties: ['workspaceId', 'name'] })
export class Connection {
  @PrimaryKey({ type: 'uuid' })
  @Field(() => GraphQLUUID)
  id!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'uuid' })
  @Field(() => GraphQLUUID)
  workspaceId!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  @Masked('config')
  name!: string;

  @Property({ type: 'text' })
  @Field(() => ConnectionType)
  type!: ConnectionType;

  @Property({ type: 'json' })
  @Field(() => GraphQLJSONObject, {
    description: 'As its type asks for; see the documentation of connections.',
  })
  @Masked('config')
  config!: Record<string, unknown>;

  /** AES-256-GCM; write-only over every API. */
  @Property({ type: 'text', nullable: true, hidden: true })
  sealedCredentials: string | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  updatedAt!: Date;

  @Property({ type: 'text' })
  @Field(() => String)
  @Masked('never')
  createdBy!: string;
}
