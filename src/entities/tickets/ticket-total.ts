import { Entity, Filter, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { organizationFilter } from '../tenancy.js';
import type { TicketStatus } from './ticket-enums.js';

/**
 * Tickets per organization and status, kept by a trigger on the ticket table: COUNT(*) over one tenant's 10,000 rows
 * takes a list from 5,500 to 1,900-2,600 requests per second, a sum over eight rows costs nothing.
 */
@Entity()
@Filter(organizationFilter)
export class TicketTotal {
  @PrimaryKey({ type: 'text' })
  organizationId!: string;

  @PrimaryKey({ type: 'text' })
  status!: TicketStatus;

  @Property({ type: 'integer' })
  total!: number;
}

/** Rows are touched in the order of their key, so that two moves in opposite directions cannot deadlock. */
export const ticketTotalTrigger = `
  INSERT INTO ticket_total (organization_id, status, total)
  SELECT organization_id, status, sum(change)::int
  FROM (
    SELECT NEW.organization_id, NEW.status, 1 WHERE TG_OP IN ('INSERT', 'UPDATE')
    UNION ALL
    SELECT OLD.organization_id, OLD.status, -1 WHERE TG_OP IN ('UPDATE', 'DELETE')
  ) AS moved (organization_id, status, change)
  GROUP BY organization_id, status
  HAVING sum(change) <> 0
  ORDER BY organization_id, status
  ON CONFLICT (organization_id, status) DO UPDATE SET total = ticket_total.total + EXCLUDED.total;
  RETURN NULL;
`;
