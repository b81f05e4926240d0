import { BigIntType } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** How far in the event log deliveries were queued: one row, moved in the transaction that queues them. */
@Entity()
export class WebhookPosition {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  id!: number;

  @Property({ type: new BigIntType('number') })
  seq!: number;
}
