import { Entity, Filter, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { organizationFilter } from '../tenancy.js';
import { UserRole } from './user.js';

/** ITSM document, SSO :provider values; the hyphens keep them from being a GraphQL enum. */
export const ssoKinds = ['directory-oidc', 'workspace-oidc', 'oidc', 'saml'] as const;
export type SsoKind = (typeof ssoKinds)[number];

@ObjectType({ description: 'Members of the group log in with the role.' })
export class SsoGroupRole {
  @Field(() => String, { description: 'Id of the group as the provider sends it.' })
  group!: string;

  @Field(() => UserRole)
  role!: UserRole;
}

@Entity()
@Filter(organizationFilter)
@Unique({ properties: ['organizationId', 'provider'] })
@ObjectType({ description: 'How the users of an organization log in with an outside provider.' })
export class SsoProvider {
  @PrimaryKey({ type: 'text' })
  @Field(() => ID)
  id!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  /** Paths name it and nothing else, so an organization has one of each kind. */
  @Property({ type: 'text' })
  @Field(() => String, { description: 'directory-oidc, workspace-oidc, oidc or saml.' })
  provider!: SsoKind;

  @Property({ type: 'text' })
  @Field(() => String)
  name!: string;

  @Property({ type: 'boolean' })
  @Field(() => Boolean)
  enabled!: boolean;

  @Property({ type: 'array', default: [] })
  @Field(() => [String], { description: 'Where a login may end, compared character by character.' })
  redirectUris: string[] = [];

  @Property({ type: 'text' })
  @Field(() => String, { description: 'OIDC: issuer URL. SAML: entity id of the identity provider.' })
  issuer!: string;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true, description: 'OIDC only.' })
  clientId: string | null = null;

  /** AES-256-GCM; write-only over every API. */
  @Property({ type: 'text', nullable: true, hidden: true })
  sealedClientSecret: string | null = null;

  @Property({ type: 'array', default: [] })
  @Field(() => [String], { description: 'OIDC: asked for beside openid.' })
  scopes: string[] = [];

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true, description: 'SAML: where requests are sent (HTTP-Redirect).' })
  entryPoint: string | null = null;

  @Property({ type: 'array', default: [] })
  @Field(() => [String], { description: 'SAML: PEM certificates that responses may be signed with.' })
  certificates: string[] = [];

  @Property({ type: 'array', default: [] })
  @Field(() => [String], { description: 'Whose e-mail addresses may enter at first; empty means any.' })
  emailDomains: string[] = [];

  @Property({ type: 'boolean' })
  @Field(() => Boolean, { description: 'Whether an unknown person becomes a user.' })
  provisionUsers!: boolean;

  @Property({ type: 'text', nullable: true })
  @Field(() => UserRole, { nullable: true, description: 'Of a new user whom no group gives a role.' })
  defaultRole: UserRole | null = null;

  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true, description: 'workspace-oidc: the claim that lists group ids.' })
  groupsClaim: string | null = null;

  @Property({ type: 'json', default: '[]' })
  @Field(() => [SsoGroupRole], {
    description: 'workspace-oidc: read at each login; the highest role counts.',
  })
  groupRoles: SsoGroupRole[] = [];

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}
