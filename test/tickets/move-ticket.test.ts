import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { file, patch, told } from './ticket-changes.js';
import { startTicketServer, type TicketServer } from './ticket-server.js';

let server: TicketServer;

beforeAll(async () => {
  server = await startTicketServer();
});
afterAll(() => server.close());

/** Puts a ticket into a state without asking the table of moves. */
async function inStatus(status: string) {
  const ticket = await file(server);
  const holdReason = status === 'on_hold' ? 'awaiting_vendor' : null;
  await server.database.orm.em
    .fork()
    .execute('update ticket set status = ?, hold_reason = ? where id = ?', [status, holdReason, ticket.id]);
  return ticket;
}

const statuses = ['new', 'open', 'in_progress', 'pending', 'on_hold', 'resolved', 'closed', 'cancelled'];
/** The completion page, Tickets, written down a second time. */
const moves = new Set(
  [
    'new>open new>in_progress new>cancelled',
    'open>in_progress open>pending open>on_hold open>resolved open>cancelled',
    'in_progress>open in_progress>pending in_progress>on_hold in_progress>resolved in_progress>cancelled',
    'pending>open pending>in_progress pending>resolved pending>cancelled',
    'on_hold>open on_hold>in_progress on_hold>resolved on_hold>cancelled',
    'resolved>in_progress resolved>closed',
  ].flatMap((line) => line.split(' ')),
);

describe('a status move by PATCH /v1/tickets/:id', () => {
  it.each(statuses)('goes from %s where the table says, and nowhere else', async (from) => {
    const allowed = statuses.filter((to) => moves.has(`${from}>${to}`));
    for (const to of statuses.filter((status) => status !== from)) {
      const { id } = await inStatus(from);
      const holdReason = to === 'on_hold' ? { holdReason: 'awaiting_change' } : {};
      const { status, body } = await patch(server, id, { status: to, ...holdReason });
      if (allowed.includes(to)) {
        expect({ from, to, status, now: body.status }).toEqual({ from, to, status: 200, now: to });
        continue;
      }
      expect({ from, to, status }).toEqual({ from, to, status: 409 });
      expect(body.error.code).toBe('CONFLICT');
      const { details } = body.error;
      expect({ ...details, allowed: details.allowed.toSorted() }).toEqual({
        currentStatus: from,
        requestedStatus: to,
        allowed: allowed.toSorted(),
      });
      expect(await told(server, id, 1)).toEqual([]);
    }
  });

  it('tells of the move, and of the resolution and the end beside it', async () => {
    const { id } = await file(server);
    const actor = { id: server.tenants.acme.userIds.manager, type: 'user' };
    await patch(server, id, { status: 'in_progress' });
    const { body: resolved } = await patch(server, id, { status: 'resolved', resolution: 'New toner' });
    const { body: closed } = await patch(server, id, { status: 'closed' });
    expect(resolved).toMatchObject({
      resolution: 'New toner',
      resolvedAt: resolved.updatedAt,
      closedAt: null,
    });
    expect(closed).toMatchObject({
      resolution: 'New toner',
      resolvedAt: resolved.resolvedAt,
      closedAt: closed.updatedAt,
    });
    const title = 'printer';
    expect(await told(server, id, 1)).toEqual([
      { type: 'ticket.status_changed', payload: { id, title, from: 'new', to: 'in_progress', actor } },
      { type: 'ticket.status_changed', payload: { id, title, from: 'in_progress', to: 'resolved', actor } },
      {
        type: 'ticket.resolved',
        payload: { id, title, resolution: 'New toner', resolved_at: resolved.resolvedAt, actor },
      },
      { type: 'ticket.status_changed', payload: { id, title, from: 'resolved', to: 'closed', actor } },
      { type: 'ticket.closed', payload: { id, title, reason: null, closed_at: closed.closedAt, actor } },
    ]);
  });

  it('takes the resolution back when work goes on', async () => {
    const { id } = await inStatus('open');
    await patch(server, id, { status: 'resolved', resolution: 'Restarted' });
    const { body } = await patch(server, id, { status: 'in_progress' });
    expect(body).toMatchObject({ status: 'in_progress', resolution: null, resolvedAt: null });
  });

  it('needs a reason to hold, and drops it afterwards', async () => {
    const { id } = await inStatus('open');
    const without = await patch(server, id, { status: 'on_hold' });
    expect(without.body.error.details).toEqual({ field: 'holdReason', constraint: 'isDefined' });
    const held = await patch(server, id, { status: 'on_hold', holdReason: 'awaiting_vendor' });
    expect(held.body).toMatchObject({ status: 'on_hold', holdReason: 'awaiting_vendor' });
    const other = await patch(server, id, { holdReason: 'awaiting_problem' });
    expect(other.body).toMatchObject({ status: 'on_hold', holdReason: 'awaiting_problem' });
    const cleared = await patch(server, id, { holdReason: null });
    expect(cleared.body.error.details).toEqual({ field: 'holdReason', constraint: 'isNotNull' });
    const { body } = await patch(server, id, { status: 'open' });
    expect(body).toMatchObject({ status: 'open', holdReason: null });
  });

  it.each([
    ['holdReason', 'awaiting_vendor'],
    ['resolution', 'Done'],
  ])('refuses %s where the status has none', async (field, value) => {
    const { id } = await inStatus('open');
    const { status, body } = await patch(server, id, { [field]: value });
    expect(status).toBe(400);
    expect(body.error.details).toEqual({ field, constraint: 'isEmpty' });
  });

  it('lets one of two simultaneous moves win and tells of no other', async () => {
    const { id } = await inStatus('resolved');
    const answers = await Promise.all([
      patch(server, id, { status: 'closed' }),
      patch(server, id, { status: 'in_progress' }, 'admin@acme'),
    ]);
    const events = await told(server, id, 1);
    const lost = answers.filter(({ status }) => status === 409);
    // Closed first leaves nothing to move; work first leaves nothing to close.
    expect(lost).toHaveLength(1);
    const moved = events.filter(({ type }) => type === 'ticket.status_changed');
    expect(moved.map(({ payload }) => payload['to'])).toEqual([
      answers.find(({ status }) => status === 200)?.body.status,
    ]);
  });
});
