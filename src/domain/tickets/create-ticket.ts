import type { EntityManager } from '@mikro-orm/postgresql';
import { type ItsmPrincipal, itsmCaller, type RequestContext } from '../../context.js';
import { newId } from '../../entities/ids.js';
import { Ticket } from '../../entities/tickets/ticket.js';
import { newEvent } from '../../events/catalogue.js';
import { transactional } from '../../events/transaction.js';
import { forbidden, widestScope } from '../identity/index.js';
import { validate } from '../validate.js';
import { ticketAssigned } from './ticket-changes.js';
import { type CreateTicket, createTicketSchema, type TicketFields } from './ticket-input.js';
import { priorityFrom } from './ticket-priority.js';
import { requireReferences } from './ticket-references.js';

/** The requester is the caller unless another is named. @throws VALIDATION_ERROR, AUTHORIZATION_ERROR */
export async function createTicket(context: RequestContext, input: CreateTicket): Promise<Ticket> {
  const caller = itsmCaller(context);
  const fields = validate(createTicketSchema, input);
  requireCreation(caller, fields);
  return transactional(context, async ({ em, record }) => {
    await requireReferences(em, fields);
    const now = context.services.now();
    const ticket = em.create(Ticket, {
      id: newId('tkt'),
      organizationId: caller.organizationId,
      number: await nextNumber(em, caller.organizationId),
      title: fields.title,
      description: fields.description ?? null,
      status: 'new',
      type: fields.type ?? 'incident',
      priority: fields.priority ?? priorityFrom(fields.impact, fields.urgency),
      impact: fields.impact ?? null,
      urgency: fields.urgency ?? null,
      category: fields.category ?? null,
      subcategory: fields.subcategory ?? null,
      requesterId: fields.requesterId ?? caller.userId,
      assigneeId: fields.assigneeId ?? null,
      teamId: fields.teamId ?? null,
      tags: fields.tags ?? [],
      customFields: fields.customFields ?? {},
      source: 'api',
      createdAt: now,
      updatedAt: now,
    });
    const { id, title, status, priority, type } = ticket;
    record(newEvent('ticket.created', caller.organizationId, { id, title, status, priority, type }));
    if (ticket.assigneeId !== null || ticket.teamId !== null)
      record(ticketAssigned(ticket, { assigneeId: null, teamId: null }, caller));
    return ticket;
  });
}

/** Who may only file their own tickets speaks for nobody else and hands work to nobody. */
function requireCreation(caller: ItsmPrincipal, fields: TicketFields): void {
  const scope = widestScope(caller.permissions, 'tickets', 'create');
  if (scope === undefined) throw forbidden(caller, 'tickets:create:own');
  if (scope !== 'own') return;
  if ((fields.requesterId ?? caller.userId) !== caller.userId)
    throw forbidden(caller, 'tickets:create:team', 'requesterId');
  if (fields.assigneeId != null) throw forbidden(caller, 'tickets:create:team', 'assigneeId');
  if (fields.teamId != null) throw forbidden(caller, 'tickets:create:team', 'teamId');
}

/**
 * The counter's row stays locked until the commit: numbers have neither gaps nor twins, and one organization's
 * creations take turns.
 */
async function nextNumber(em: EntityManager, organizationId: string): Promise<number> {
  const [row] = await em.execute<{ last_number: number }[]>(
    `insert into ticket_counter as counter (organization_id, last_number) values (?, 1)
     on conflict (organization_id) do update set last_number = counter.last_number + 1
     returning last_number`,
    [organizationId],
  );
  if (row === undefined) throw new TypeError('The upsert of the ticket counter returned no row');
  return row.last_number;
}
