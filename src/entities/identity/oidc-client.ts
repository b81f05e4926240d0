import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** A client of the embedded issuer. Confidential ones act with their own roles in one workspace. */
@Entity()
export class OidcClient {
  @PrimaryKey({ type: 'text' })
  clientId!: string;

  @Property({ type: 'text' })
  kind!: 'public' | 'confidential';

  /** Sealed with the installation's secret key: the issuer compares it in clear (RFC 6749 section 2.3.1). */
  @Property({ type: 'text', nullable: true, hidden: true })
  sealedSecret: string | null = null;

  @Property({ type: 'array', default: [] })
  redirectUris: string[] = [];

  @Property({ type: 'array', default: [] })
  roles: string[] = [];

  @Property({ type: 'uuid', nullable: true })
  workspaceId: string | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;
}
