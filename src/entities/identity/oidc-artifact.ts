import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** What the embedded issuer remembers between requests: codes, grants, sessions, interactions. */
@Entity()
export class OidcArtifact {
  @PrimaryKey({ type: 'text' })
  model!: string;

  @PrimaryKey({ type: 'text' })
  id!: string;

  @Property({ type: 'json' })
  payload!: Record<string, unknown>;

  @Property({ type: 'text', nullable: true })
  @Index()
  grantId: string | null = null;

  @Property({ type: 'text', nullable: true })
  @Index()
  uid: string | null = null;

  @Property({ type: 'text', nullable: true })
  @Index()
  userCode: string | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  consumedAt: Date | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  @Index()
  expiresAt: Date | null = null;
}
