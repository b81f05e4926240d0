import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** A refresh token at rest: only the SHA-256 of the JWT is kept. */
@Entity()
export class RefreshToken {
  @PrimaryKey({ type: 'text' })
  hash!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Index()
  sessionId!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  expiresAt!: Date;

  /** Single use: set by whoever exchanged it first. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  usedAt: Date | null = null;
}
