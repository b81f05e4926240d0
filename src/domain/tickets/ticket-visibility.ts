import type { ObjectQuery } from '@mikro-orm/core';
import { raw } from '@mikro-orm/postgresql';
import type { ItsmPrincipal } from '../../context.js';
import type { Ticket } from '../../entities/tickets/ticket.js';
import { forbidden, type Scope, widestScope } from '../identity/index.js';

/** Who stands around a ticket at this moment. */
export interface TicketAudience {
  requesterId: string;
  assigneeId: string | null;
  /** Members of the ticket's team. */
  teamUserIds: readonly string[];
}

interface Visibility {
  /** The condition a query carries, so that nothing is filtered after the read. */
  where(userId: string): ObjectQuery<Ticket>;
  /** The same said of one ticket, for events that are already in memory. */
  includes(audience: TicketAudience, userId: string): boolean;
}

const teamsOf = 'select m.team_id from team_member m where m.user_id = ?';

const visibilities: Readonly<Record<Scope, Visibility>> = {
  own: {
    where: (userId) => ({ requesterId: userId }),
    includes: (audience, userId) => audience.requesterId === userId,
  },
  team: {
    where: (userId) => ({
      $or: [
        { requesterId: userId },
        { assigneeId: userId },
        // An array, so that the planner can combine one index per line: `in (select ...)` read the whole tenant.
        { [raw((alias) => `${alias}.team_id = any (array(${teamsOf}))`, [userId])]: [] },
      ],
    }),
    includes: (audience, userId) =>
      audience.requesterId === userId ||
      audience.assigneeId === userId ||
      audience.teamUserIds.includes(userId),
  },
  all: { where: () => ({}), includes: () => true },
};

export interface TicketView {
  scope: Scope;
  /** Whose view it is; null where everybody with the scope sees the same. */
  userId: string | null;
  where: ObjectQuery<Ticket>;
  includes(audience: TicketAudience): boolean;
}

/**
 * Which of the organization's tickets a caller may reach: the one function behind list, read, update and subscription.
 * @throws AUTHORIZATION_ERROR when none.
 */
export function ticketView(caller: ItsmPrincipal, action: 'read' | 'update'): TicketView {
  const scope = widestScope(caller.permissions, 'tickets', action);
  if (scope === undefined) throw forbidden(caller, `tickets:${action}:own`);
  const visibility = visibilities[scope];
  return {
    scope,
    userId: scope === 'all' ? null : caller.userId,
    where: visibility.where(caller.userId),
    includes: (audience) => visibility.includes(audience, caller.userId),
  };
}
