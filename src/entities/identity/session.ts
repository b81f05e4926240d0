import type { Opt } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';

/** One login of one user; its id is the token's sessionId claim and the handle for revocation. */
@Entity()
@Filter(organizationFilter)
@ObjectType({ description: 'ITSM document, Session attributes: one login of one user.' })
export class Session {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Index()
  @Field(() => ID)
  userId!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  /** What the client called its device at login; a changed one later asks for a new login. */
  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true, description: 'What the client called its device at login.' })
  deviceFingerprint: string | null = null;

  /** Whether use moves `expiresAt` on. */
  @Property({ type: 'boolean', default: true })
  @Field(() => Boolean, { description: 'Whether each authenticated request extends the session.' })
  slidingExpiration: Opt<boolean> = true;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'Of the last authenticated request, to the minute.',
  })
  lastUsedAt: Date | null = null;

  /** 7 days after the last refresh or request; after the login when the session does not slide. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  @Field(() => GraphQLDateTime)
  expiresAt!: Date;

  /** Indexed because every node asks for the latest ones. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  @Index()
  revokedAt: Date | null = null;
}
