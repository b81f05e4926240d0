import { BigIntType } from '@mikro-orm/core';
import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** A security key or passkey of a user: the public half, which is no secret. */
@Entity()
@Filter(organizationFilter)
export class WebauthnCredential {
  /** The credential id, base64url, chosen by the authenticator. */
  @PrimaryKey({ type: 'text' })
  id!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  @Index()
  userId!: string;

  /** COSE key, base64url. */
  @Property({ type: 'text' })
  publicKey!: string;

  /** Of signatures, for authenticators that count: one that does not grow betrays a copy (WebAuthn section 6.1.1). */
  @Property({ type: new BigIntType('number') })
  counter!: number;

  @Property({ type: 'array', default: [] })
  transports: string[] = [];

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;
}
