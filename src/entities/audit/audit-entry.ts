import { BigIntType } from '@mikro-orm/core';
import { Entity, Filter, PrimaryKey, Property, Trigger, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';

/**
 * Who did what to what. Written once: the database refuses every change, and each entry's hash covers the one before
 * it, so that a change made past the database's refusal shows (src/domain/audit).
 */
@Entity()
@Filter(organizationFilter)
@ObjectType({ description: 'Who did what to what; never changed afterwards.' })
@Unique({ properties: ['organizationId', 'position'] })
@Trigger({
  name: 'audit_entry_append_only',
  timing: 'before',
  // TRUNCATE stands in the migration alone: PostgreSQL's information_schema does not list it, so the entities would never
  // agree with a database that has it.
  events: ['update', 'delete'],
  forEach: 'statement',
  body: `RAISE EXCEPTION 'Audit entries are append-only' USING ERRCODE = 'restrict_violation';`,
})
export class AuditEntry {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  /** Of what belongs to no organization, such as a login with an unknown address: `installation`. */
  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: new BigIntType('number') })
  @Field(() => GraphQLSafeInt, { description: 'Counts up within the organization, without a gap.' })
  position!: number;

  /** By the database's clock, the same for all nodes. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  occurredAt!: Date;

  @Property({ type: 'text' })
  @Field(() => String, { description: 'For example auth.login_failed.' })
  action!: string;

  @Property({ type: 'text' })
  @Field(() => String, { description: 'user, api_key, platform, system or anonymous.' })
  actorType!: string;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  actorId: string | null = null;

  @Property({ type: 'text' })
  @Field(() => String)
  resourceType!: string;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  resourceId: string | null = null;

  @Property({ type: 'json', nullable: true })
  @Field(() => GraphQLJSONObject, { nullable: true })
  before: Record<string, unknown> | null = null;

  @Property({ type: 'json', nullable: true })
  @Field(() => GraphQLJSONObject, { nullable: true })
  after: Record<string, unknown> | null = null;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true, description: 'Where the request came from.' })
  address: string | null = null;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  requestId: string | null = null;

  @Property({ type: 'text' })
  @Field(() => String, { description: 'Of the entry before; the first one follows 64 zeros.' })
  previousHash!: string;

  @Property({ type: 'text' })
  @Field(() => String, {
    description: 'SHA-256 of previousHash followed by the canonical JSON (RFC 8785) of the entry.',
  })
  hash!: string;
}
