import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import {
  type EventPayload,
  type EventType,
  eventProblem,
  eventTypeDescriptions,
  eventTypes,
  isEventType,
  newEvent,
} from '../../src/events/catalogue.js';

/** The table of the ITSM document, Events, row by row. */
const documented = [
  ['ticket', 'ticket.created', 'ticket created manually or by an integration'],
  ['ticket', 'ticket.updated', 'title, description, priority, type or custom fields changed'],
  ['ticket', 'ticket.status_changed', 'status moved'],
  ['ticket', 'ticket.assigned', 'assigned or reassigned to an agent or team'],
  ['ticket', 'ticket.resolved', 'marked resolved'],
  ['ticket', 'ticket.closed', 'closed after resolution confirmation'],
  ['triage', 'triage.completed', 'AI triage classified a ticket (priority, category, routing)'],
  ['triage', 'triage.auto_resolved', 'AI triage applied a resolution'],
  ['triage', 'triage.escalated', 'AI triage escalated to a human agent'],
  ['workflow', 'workflow.started', 'automated workflow started for a ticket or change request'],
  ['workflow', 'workflow.completed', 'all steps succeeded'],
  ['workflow', 'workflow.failed', 'unrecoverable error'],
  ['sla', 'sla.warning', 'approaching the SLA deadline (configurable threshold)'],
  ['sla', 'sla.breached', 'SLA response or resolution time exceeded'],
  ['comment', 'comment.added', 'comment added by agent, customer or system'],
  ['change', 'change.submitted', 'change request submitted for review'],
  ['change', 'change.approved', 'approved by the required approvers'],
  ['change', 'change.rejected', 'rejected'],
  ['change', 'change.implemented', 'implemented in production'],
  ['connector', 'connector.synced', 'external connector finished a sync cycle'],
  ['connector', 'connector.error', 'external connector failed during sync'],
  ['user', 'user.created', 'user provisioned in the organization'],
  ['user', 'user.updated', 'profile, role or permissions changed'],
  ['test', 'webhook.test', 'sent by the test endpoint'],
];

const at = '2026-03-04T05:06:07.000Z';
const actor = { id: 'usr_1', type: 'user' } as const;
const ticket = { id: 'tkt_1', title: 'Printer' };
const triage = { ticket_id: 'tkt_1', confidence: 0.9, model: 'local-1', processing_time_ms: 12 };
const run = {
  workflow_id: 'wfl_1',
  run_id: 'wfr_1',
  name: 'Route',
  ticket_id: 'tkt_1',
  change_id: null,
  trigger: 'event',
} as const;
const timer = {
  ticket_id: 'tkt_1',
  sla_policy: 'Gold',
  metric: 'resolution',
  target_minutes: 60,
  elapsed_minutes: 48,
} as const;
const change = { id: 'chg_1', title: 'Upgrade', risk_level: 'high' } as const;
const changes = [{ field: 'title', from: 'a', to: 'b' }];

/** One of each, with exactly the fields that are documented for it. */
const samples: { [T in EventType]: EventPayload<T> } = {
  'ticket.created': { ...ticket, status: 'new', priority: 'high', type: 'incident' },
  'ticket.updated': { ...ticket, status: 'new', priority: 'high', type: 'incident', changes, actor },
  'ticket.status_changed': { ...ticket, from: 'new', to: 'in_progress', actor },
  'ticket.assigned': {
    ...ticket,
    assignee_id: 'usr_2',
    team_id: null,
    previous_assignee_id: null,
    previous_team_id: 'team_1',
    actor,
  },
  'ticket.resolved': { ...ticket, resolution: 'Paper', resolved_at: at, actor },
  'ticket.closed': { ...ticket, reason: null, closed_at: at, actor },
  'triage.completed': {
    ...triage,
    priority: 'high',
    category: 'hardware',
    subcategory: 'printer',
    routing: { team: 'team_1', agent: 'usr_2' },
  },
  'triage.auto_resolved': { ...triage, resolution: 'Restart it' },
  'triage.escalated': { ...triage, reason: 'low confidence', team: 'team_1' },
  'workflow.started': run,
  'workflow.completed': { ...run, steps: 3, duration_ms: 40 },
  'workflow.failed': { ...run, failed_step: 'notify', error: 'no such channel' },
  'sla.warning': { ...timer, remaining_minutes: 12, due_at: at },
  'sla.breached': { ...timer, breach_severity: 'minor' },
  'comment.added': {
    id: 'cmt_1',
    ticket_id: 'tkt_1',
    author_id: 'usr_1',
    visibility: 'public',
    body: 'Hello',
    created_at: at,
  },
  'change.submitted': { ...change, type: 'normal', submitted_by: 'usr_1', approvers: ['usr_2'] },
  'change.approved': { ...change, approved_by: ['usr_2'], scheduled_at: at },
  'change.rejected': { ...change, rejected_by: 'usr_2', comment: 'not now' },
  'change.implemented': { ...change, implemented_by: 'usr_1', implemented_at: at },
  'connector.synced': {
    connector_id: 'con_1',
    kind: 'jira',
    direction: 'inbound',
    created: 1,
    updated: 2,
    skipped: 0,
    failed: 0,
    duration_ms: 900,
  },
  'connector.error': {
    connector_id: 'con_1',
    kind: 'jira',
    error: '401',
    attempt: 1,
    next_attempt_at: null,
  },
  'user.created': { id: 'usr_1', email: 'a@b.test', name: 'A', role: 'end_user', source: 'api' },
  'user.updated': { id: 'usr_1', email: 'a@b.test', changes, actor },
  'webhook.test': { message: 'Hello', webhook_id: 'whk_1' },
};

const subjects: Record<string, string> = {
  ticket: 'tkt_1',
  triage: 'tkt_1',
  workflow: 'wfr_1',
  sla: 'tkt_1',
  comment: 'tkt_1',
  change: 'chg_1',
  connector: 'con_1',
  user: 'usr_1',
  webhook: 'whk_1',
};

/** Whatever the schema of one type says, an independent validator must say too. */
const ajv = new Ajv2020({ strict: true });
formats.default(ajv);

describe('the catalogue of events', () => {
  it('is the table of the document', () => {
    const listed = eventTypeDescriptions.map(({ category, type, meaning }) => [category, type, meaning]);
    expect(listed).toEqual(documented);
    expect([...eventTypes].sort()).toEqual(documented.map(([, type]) => type).sort());
    expect(isEventType('ticket.vanished')).toBe(false);
    expect(isEventType('toString')).toBe(false);
  });

  it.each(eventTypeDescriptions.map(({ type, schema }) => [type, schema] as const))(
    'publishes of %s what recording accepts',
    (type, schema) => {
      const check = ajv.compile(schema);
      const payload = samples[type as EventType] as Record<string, unknown>;
      const problemOf = (candidate: object) =>
        eventProblem(newEvent(type as EventType, 'org_1', candidate as never));
      const both = (candidate: object) => [check(candidate), problemOf(candidate) === undefined];
      expect(both(payload)).toEqual([true, true]);
      expect(both({ ...payload, surplus: 1 })).toEqual([false, false]);
      for (const field of Object.keys(payload)) {
        const { [field]: _without, ...rest } = payload;
        expect({ field, fits: both(rest) }).toEqual({ field, fits: [false, false] });
        expect(both({ ...payload, [field]: { no: 'such' } })).toEqual([false, false]);
        expect(problemOf(rest)).toContain(field);
      }
      const event = newEvent(type as EventType, 'org_1', payload as never);
      expect(event.subjectId).toBe(subjects[type.split('.')[0] ?? '']);
    },
  );
});
