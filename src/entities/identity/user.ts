import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime, GraphQLEmailAddress } from 'graphql-scalars';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';

export const UserRole = {
  end_user: 'end_user',
  service_desk_agent: 'service_desk_agent',
  service_desk_manager: 'service_desk_manager',
  tenant_admin: 'tenant_admin',
  super_admin: 'super_admin',
} as const;
export type UserRole = (typeof UserRole)[keyof typeof UserRole];

registerEnumType(UserRole, { name: 'UserRole', description: 'ITSM document, Roles.' });

@Entity()
@Filter(organizationFilter)
@ObjectType()
export class User {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  @Index()
  @Field(() => ID)
  organizationId!: string;

  /** Unique over the installation, since a login names no tenant. Stored in lower case. */
  @Property({ type: 'text', unique: true })
  @Field(() => GraphQLEmailAddress)
  email!: string;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'text' })
  @Field(() => UserRole)
  role!: UserRole;

  /** argon2id in PHC string format; null until a password is set. */
  @Property({ type: 'text', hidden: true, nullable: true })
  passwordHash: string | null = null;

  @Property({ type: 'boolean', default: true })
  @Field(() => Boolean, { description: 'Only active users can log in.' })
  active: boolean = true;

  /** Since when an administrator keeps the user out; failed logins lock by themselves (login-guard.ts). */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  lockedAt: Date | null = null;

  /** Roles the embedded OIDC issuer puts into this user's platform tokens. */
  @Property({ type: 'array', default: [] })
  platformRoles: string[] = [];

  /** Workspace the embedded OIDC issuer puts into this user's platform tokens. */
  @Property({ type: 'uuid', nullable: true })
  defaultWorkspaceId: string | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}
