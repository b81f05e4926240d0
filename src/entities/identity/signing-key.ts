import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** An RS256 key pair; the private half is sealed with the installation's secret key. */
@Entity()
export class SigningKey {
  /** RFC 7638 thumbprint, the `kid` of the tokens it signs. */
  @PrimaryKey({ type: 'text' })
  kid!: string;

  @Property({ type: 'text' })
  purpose!: 'itsm' | 'oidc';

  @Property({ type: 'json' })
  publicJwk!: Record<string, unknown>;

  @Property({ type: 'text', hidden: true })
  sealedPrivateJwk!: string;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;

  /** From then on it verifies but signs no more. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  retiredAt: Date | null = null;
}
