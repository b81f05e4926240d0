import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** A factor that was offered and not yet confirmed. Goes when it is. */
@Entity()
@Filter(organizationFilter)
export class MfaSetup {
  @PrimaryKey({ type: 'text' })
  userId!: string;

  @PrimaryKey({ type: 'text' })
  method!: 'totp' | 'webauthn';

  @Property({ type: 'text' })
  organizationId!: string;

  /** The TOTP secret, or the challenge the new authenticator signs; sealed. */
  @Property({ type: 'text', hidden: true })
  sealed!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  expiresAt!: Date;
}
