import { Entity, Filter, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

/** The last ticket number given out in an organization. */
@Entity()
@Filter(organizationFilter)
export class TicketCounter {
  @PrimaryKey({ type: 'text' })
  organizationId!: string;

  @Property({ type: 'integer' })
  lastNumber!: number;
}
