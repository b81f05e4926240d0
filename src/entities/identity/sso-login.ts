import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** A login that went to an outside provider: first awaited by its state, then by the client with its one-time code. */
@Entity()
@Filter(organizationFilter)
export class SsoLogin {
  /** SHA-256 of the state we sent, which has 256 random bits. */
  @PrimaryKey({ type: 'text' })
  stateHash!: string;

  @Property({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'text' })
  providerId!: string;

  /** OIDC: nonce of the ID token. SAML: id of the request, which the response must name. */
  @Property({ type: 'text' })
  nonce!: string;

  /** Of our own PKCE towards the provider. */
  @Property({ type: 'text', nullable: true, hidden: true })
  sealedVerifier: string | null = null;

  /** Where the provider was told to answer. */
  @Property({ type: 'text' })
  callbackUrl!: string;

  /** Of the client's PKCE towards us, S256. */
  @Property({ type: 'text' })
  codeChallenge!: string;

  /** Null: the callback itself answers with the tokens. */
  @Property({ type: 'text', nullable: true })
  redirectUri: string | null = null;

  @Property({ type: 'text', nullable: true })
  clientState: string | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt!: Date;

  /** Of the state, later of the code. */
  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  expiresAt!: Date;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  answeredAt: Date | null = null;

  /** SHA-256 of the one-time code, which has 256 random bits. */
  @Property({ type: 'text', nullable: true, unique: true })
  codeHash: string | null = null;

  @Property({ type: 'text', nullable: true })
  userId: string | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)', nullable: true })
  exchangedAt: Date | null = null;

  /** What the code was exchanged for: ends when the code comes a second time. */
  @Property({ type: 'text', nullable: true })
  sessionId: string | null = null;
}
