import { Entity, Filter, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** One of ten codes for the day the other factors are lost; the row goes when it is used. */
@Entity()
@Filter(organizationFilter)
export class BackupCode {
  @PrimaryKey({ type: 'text' })
  userId!: string;

  /** HMAC under the installation's key: see src/domain/identity/mfa/backup-codes.ts. */
  @PrimaryKey({ type: 'text' })
  hash!: string;

  @Property({ type: 'text' })
  organizationId!: string;
}
