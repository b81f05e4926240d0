import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/**
 * Who a user is at an outside login provider. Named by issuer and not by configuration, so that pointing one to another
 * issuer hands nobody's account over, and setting one up anew loses nobody.
 */
@Entity()
@Filter(organizationFilter)
export class SsoIdentity {
  @PrimaryKey({ type: 'text' })
  organizationId!: string;

  @PrimaryKey({ type: 'text' })
  issuer!: string;

  @PrimaryKey({ type: 'text' })
  subject!: string;

  @Property({ type: 'text' })
  @Index()
  userId!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;
}
