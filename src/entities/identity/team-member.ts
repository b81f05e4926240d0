import { Entity, Filter, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';

@Entity()
@Filter(organizationFilter)
export class TeamMember {
  @PrimaryKey({ type: 'text' })
  teamId!: string;

  @PrimaryKey({ type: 'text' })
  @Index()
  userId!: string;

  @Property({ type: 'text' })
  organizationId!: string;
}
