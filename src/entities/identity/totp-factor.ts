import { Entity, Filter, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** A user's authenticator app, confirmed. */
@Entity()
@Filter(organizationFilter)
export class TotpFactor {
  @PrimaryKey({ type: 'text' })
  userId!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  /** 20 bytes in base32, sealed with the installation's key: a code can only be checked with the secret itself. */
  @Property({ type: 'text', hidden: true })
  sealedSecret!: string;

  /** Number of the last 30 s that were paid for; only later ones are accepted (RFC 6238 section 5.2). */
  @Property({ type: 'integer' })
  lastStep!: number;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;
}
