import type { TicketLevel, TicketPriority } from '../../entities/tickets/ticket-enums.js';

/** Impact by urgency, the usual ITIL square. */
const matrix: Readonly<Record<TicketLevel, Readonly<Record<TicketLevel, TicketPriority>>>> = {
  high: { high: 'critical', medium: 'high', low: 'medium' },
  medium: { high: 'high', medium: 'medium', low: 'low' },
  low: { high: 'medium', medium: 'low', low: 'low' },
};

/** A level nobody named counts as medium, so that a ticket without both is of medium priority. */
export function priorityFrom(
  impact: TicketLevel | null | undefined,
  urgency: TicketLevel | null | undefined,
): TicketPriority {
  return matrix[impact ?? 'medium'][urgency ?? 'medium'];
}
