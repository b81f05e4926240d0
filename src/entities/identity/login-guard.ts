import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** Attempts to log in to one account that count still; see src/domain/identity/attempt-limit.ts. All times in ms. */
export interface AttemptState {
  failures: number[];
  /** Being checked somewhere; one that nobody decided in time counts as failed. */
  pending: { id: string; at: number }[];
  lockedUntil: number | null;
}

/** Belongs to no tenant: an address nobody has is counted as well, or an answer would tell which ones exist. */
@Entity()
export class LoginGuard {
  /** HMAC of the e-mail address: what strangers type is not kept. */
  @PrimaryKey({ type: 'text' })
  accountKey!: string;

  @Property({ type: 'json' })
  state!: AttemptState;

  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  @Index()
  updatedAt!: Date;
}
