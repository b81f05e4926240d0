import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/**
 * A mail on its way out: written in the transaction of what it tells of, gone when the mail server has taken it. Belongs
 * to no tenant: who asks for a password may have any address.
 */
@Entity()
export class Mail {
  @PrimaryKey({ type: 'text' })
  id!: string;

  /** Which text; src/domain/mail/mail-request.ts. */
  @Property({ type: 'text' })
  kind!: string;

  /** What the text needs, sealed: addresses, and no secrets. A link's token is made when the mail is. */
  @Property({ type: 'text' })
  sealedDetails!: string;

  @Property({ type: 'integer', default: 0 })
  attempts: number = 0;

  /** The next attempt; while one is under way, when another worker may take over. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  dueAt!: Date;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;
}
