import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** A login whose password was right and whose second factor is still due. Goes when it is met. */
@Entity()
@Filter(organizationFilter)
export class MfaChallenge {
  /** SHA-256 of the mfa_ token, which has 256 random bits. */
  @PrimaryKey({ type: 'text' })
  tokenHash!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Index()
  userId!: string;

  /** Over all factors. */
  @Property({ type: 'integer', default: 0 })
  attempts: number = 0;

  /** What an authenticator is to sign, base64url; null for a user without one. */
  @Property({ type: 'text', nullable: true })
  assertionChallenge: string | null = null;

  /** Of the login, for the session it becomes. */
  @Property({ type: 'text', nullable: true })
  deviceFingerprint: string | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  expiresAt!: Date;
}
