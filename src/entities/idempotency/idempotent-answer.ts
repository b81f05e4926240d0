import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** What a caller's request with an Idempotency-Key was answered with; without an answer while it is being made. */
@Entity()
@Filter(organizationFilter)
export class IdempotentAnswer {
  @PrimaryKey({ type: 'text' })
  organizationId!: string;

  /** The user or the API key: nobody is answered with what somebody else asked for. */
  @PrimaryKey({ type: 'text' })
  callerId!: string;

  /** SHA-256 of the key the caller chose. */
  @PrimaryKey({ type: 'text' })
  keyHash!: string;

  /** SHA-256 of method, path and body. */
  @Property({ type: 'text' })
  requestHash!: string;

  /** Of the one request that may answer. */
  @Property({ type: 'text' })
  requestId!: string;

  /** AES-256-GCM, since an answer may hold a secret that is shown once. */
  @Property({ type: 'text', nullable: true })
  sealedAnswer: string | null = null;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  createdAt!: Date;
}
