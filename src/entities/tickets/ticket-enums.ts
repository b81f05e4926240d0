import { registerEnumType } from 'type-graphql';

export const TicketStatus = {
  new: 'new',
  open: 'open',
  in_progress: 'in_progress',
  pending: 'pending',
  on_hold: 'on_hold',
  resolved: 'resolved',
  closed: 'closed',
  cancelled: 'cancelled',
} as const;
export type TicketStatus = (typeof TicketStatus)[keyof typeof TicketStatus];
registerEnumType(TicketStatus, { name: 'TicketStatus', description: 'closed and cancelled are final.' });

export const TicketPriority = { critical: 'critical', high: 'high', medium: 'medium', low: 'low' } as const;
export type TicketPriority = (typeof TicketPriority)[keyof typeof TicketPriority];
registerEnumType(TicketPriority, { name: 'TicketPriority' });

export const TicketLevel = { high: 'high', medium: 'medium', low: 'low' } as const;
export type TicketLevel = (typeof TicketLevel)[keyof typeof TicketLevel];
registerEnumType(TicketLevel, {
  name: 'TicketLevel',
  description: 'Impact or urgency; the two together give the priority when none is named.',
});

export const TicketType = {
  incident: 'incident',
  service_request: 'service_request',
  problem: 'problem',
  task: 'task',
} as const;
export type TicketType = (typeof TicketType)[keyof typeof TicketType];
registerEnumType(TicketType, { name: 'TicketType' });

export const TicketSource = {
  api: 'api',
  email: 'email',
  connector: 'connector',
  alert: 'alert',
  workflow: 'workflow',
} as const;
export type TicketSource = (typeof TicketSource)[keyof typeof TicketSource];
registerEnumType(TicketSource, { name: 'TicketSource' });

export const HoldReason = {
  awaiting_change: 'awaiting_change',
  awaiting_problem: 'awaiting_problem',
  awaiting_vendor: 'awaiting_vendor',
} as const;
export type HoldReason = (typeof HoldReason)[keyof typeof HoldReason];
registerEnumType(HoldReason, { name: 'HoldReason' });
