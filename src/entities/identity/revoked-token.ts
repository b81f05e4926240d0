import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** An access token that is refused before its time, its session living on. */
@Entity()
@Filter(organizationFilter)
export class RevokedToken {
  /** The `jti` claim. */
  @PrimaryKey({ type: 'text' })
  tokenId!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  /** Indexed because every node asks for the latest ones. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  revokedAt!: Date;
}
