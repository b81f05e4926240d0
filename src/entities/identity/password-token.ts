import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

export const PasswordPurpose = { invitation: 'invitation', reset: 'reset' } as const;
export type PasswordPurpose = (typeof PasswordPurpose)[keyof typeof PasswordPurpose];

/** What a link by mail lets its holder do once: set the password of one user. */
@Entity()
@Filter(organizationFilter)
export class PasswordToken {
  /** SHA-256 of the token, which has 256 random bits. */
  @PrimaryKey({ type: 'text' })
  hash!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Index()
  userId!: string;

  @Property({ type: 'text' })
  purpose!: PasswordPurpose;

  /** The mail that carries the link: another attempt to send it makes another token, in place of this one. */
  @Property({ type: 'text' })
  mailId!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  expiresAt!: Date;
}
