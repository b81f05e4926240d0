import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** One login of one user; its id is the token's sessionId claim and the handle for revocation. */
@Entity()
@Filter(organizationFilter)
export class Session {
  @PrimaryKey({ type: 'text' })
  id!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Index()
  userId!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;

  /** What the client called its device at login; a changed one later asks for a new login. */
  @Property({ type: 'text', nullable: true })
  deviceFingerprint: string | null = null;

  /** Moves on with each refresh: the end of the newest refresh token. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  expiresAt!: Date;

  /** Indexed because every node asks for the latest ones. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  @Index()
  revokedAt: Date | null = null;
}
