import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/entities/ids.js';
import { Webhook } from '../../src/entities/webhooks/webhook.js';
import { eventually } from '../support/eventually.js';
import { expectRefused } from './expect-refused.js';
import { startWebhookApp, type WebhookApp } from './webhook-app.js';

let house: WebhookApp;
let receiver: WebhookApp['receiver'];
let admin: WebhookApp['admin'];
let em: WebhookApp['em'];
let make: WebhookApp['make'];
let insertDelivery: WebhookApp['insertDelivery'];

beforeAll(async () => {
  house = await startWebhookApp();
  ({ receiver, admin, em, make, insertDelivery } = house);
});

afterAll(() => house.close());

describe('a test delivery', () => {
  it('is sent at once and answered with its outcome', async () => {
    const { id } = await make({ url: `${receiver.url}/tried`, active: false });
    const { status, body } = await admin('POST', `/v1/webhooks/${id}/test`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^dlv_/),
      webhook_id: id,
      event_type: 'webhook.test',
      status: 'delivered',
      response_code: 200,
      response_time_ms: expect.any(Number),
      delivered_at: expect.stringMatching(/Z$/),
    });
    const [arrival, ...others] = receiver.at('/tried');
    expect(others).toEqual([]);
    expect(JSON.parse(String(arrival?.body))).toMatchObject({
      type: 'webhook.test',
      payload: { webhook_id: id },
    });
  });

  it('that fails is 200 too, with what was answered or null', async () => {
    receiver.answer('/failing', (response) => response.writeHead(500).end());
    const failing = await make({ url: `${receiver.url}/failing` });
    const answer = await admin('POST', `/v1/webhooks/${failing.id}/test`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'failed', response_code: 500, delivered_at: null });
    const nowhere = await make({ url: 'https://receiver.invalid/' });
    const { status, body } = await admin('POST', `/v1/webhooks/${nowhere.id}/test`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'failed', response_code: null, delivered_at: null });
    const { body: log } = await admin('GET', `/v1/webhooks/${failing.id}/deliveries`);
    expect(log.data).toHaveLength(1);
    expect(log.data[0]).toMatchObject({ event_type: 'webhook.test', status: 'failed', attempt: 1 });
    const row = await em().findOneOrFail(Webhook, { id: failing.id }, { filters: false });
    expect(row.consecutiveFailures).toBe(0);
  });
});

describe('the delivery history', () => {
  it('has the documented fields, nulls and all, and attempts of what failed', async () => {
    const { id } = await make();
    const at = new Date('2026-03-04T05:06:07.000Z');
    const waiting = await insertDelivery(id, { dueAt: new Date('2999-01-01'), createdAt: at });
    const between = await insertDelivery(id, {
      attempt: 1,
      dueAt: new Date('2999-01-01'),
      responseCode: 503,
      responseTimeMs: 12,
      createdAt: new Date(at.getTime() + 1),
    });
    const attempts = [1, 2, 3].map((attempt) => ({
      attempt,
      responseCode: attempt === 2 ? null : 500,
      responseTimeMs: 7,
      attemptedAt: at.toISOString(),
      error: attempt === 2 ? 'ECONNRESET' : null,
    }));
    const failed = await insertDelivery(id, {
      status: 'failed',
      attempt: 3,
      attempts,
      responseCode: 500,
      responseTimeMs: 7,
      failedAt: at,
      createdAt: new Date(at.getTime() + 2),
    });
    const { status, body } = await admin('GET', `/v1/webhooks/${id}/deliveries`);
    expect(status).toBe(200);
    const never = { response_code: null, response_time_ms: null, delivered_at: null, failed_at: null };
    const common = { webhook_id: id, event_type: 'ticket.created', max_attempts: 3 };
    expect(body).toEqual({
      has_more: false,
      data: [
        {
          ...common,
          ...never,
          id: failed.id,
          event_id: failed.eventId,
          status: 'failed',
          response_code: 500,
          response_time_ms: 7,
          attempt: 3,
          next_retry_at: null,
          failed_at: at.toISOString(),
          created_at: '2026-03-04T05:06:07.002Z',
          attempts: attempts.map(({ attempt, responseCode }) => ({
            attempt,
            response_code: responseCode,
            response_time_ms: 7,
            attempted_at: at.toISOString(),
          })),
        },
        {
          ...common,
          ...never,
          id: between.id,
          event_id: between.eventId,
          status: 'pending',
          response_code: 503,
          response_time_ms: 12,
          attempt: 1,
          next_retry_at: '2999-01-01T00:00:00.000Z',
          created_at: '2026-03-04T05:06:07.001Z',
        },
        {
          ...common,
          ...never,
          id: waiting.id,
          event_id: waiting.eventId,
          status: 'pending',
          attempt: 0,
          next_retry_at: null,
          created_at: at.toISOString(),
        },
      ],
    });
  });

  it('has 20 by default, is filtered, and goes on by page and by cursor', async () => {
    const { id } = await make();
    const made: string[] = [];
    for (let index = 0; index < 22; index += 1) {
      const values = index % 2 === 0 ? ({ status: 'delivered' } as const) : { eventType: 'ticket.closed' };
      const dueAt = new Date('2999-01-01');
      made.unshift((await insertDelivery(id, { createdAt: new Date(1e12 + index), dueAt, ...values })).id);
    }
    const ids = async (query: string) => {
      const { body } = await admin('GET', `/v1/webhooks/${id}/deliveries${query}`);
      return { ids: body.data.map((delivery: { id: string }) => delivery.id), more: body.has_more };
    };
    expect(await ids('')).toEqual({ ids: made.slice(0, 20), more: true });
    expect(await ids('?page=2')).toEqual({ ids: made.slice(20), more: false });
    expect(await ids(`?limit=3&starting_after=${made[2]}`)).toEqual({ ids: made.slice(3, 6), more: true });
    expect(await ids(`?limit=2&ending_before=${made[3]}`)).toEqual({ ids: made.slice(1, 3), more: true });
    const odd = made.filter((_id, at) => at % 2 === 0);
    expect(await ids('?status=pending&limit=11')).toEqual({ ids: odd, more: false });
    expect(await ids('?event_type=ticket.closed')).toEqual({ ids: odd, more: false });
    expect(await ids('?status=failed')).toEqual({ ids: [], more: false });
    for (const [query, field, constraint] of [
      ['status=lost', 'status', 'isIn'],
      ['event_type=ticket.lost', 'event_type', 'isIn'],
      ['limit=1001', 'limit', 'max'],
      ['starting_after=dlv_1', 'starting_after', 'exists'],
    ])
      expectRefused(await admin('GET', `/v1/webhooks/${id}/deliveries?${query}`), 400, 'VALIDATION_ERROR', {
        field,
        constraint,
      });
  });
});

describe('sending again', () => {
  it('redelivers one event as a delivery of its own', async () => {
    const { id } = await make({ url: `${receiver.url}/again`, events: ['ticket.created'] });
    const { body: ticket } = await admin('POST', '/v1/tickets', { title: 'again' });
    await eventually(() => receiver.at('/again').length === 1);
    const { body: log } = await admin('GET', `/v1/webhooks/${id}/deliveries`);
    const [first] = log.data;
    const { status, body } = await admin('POST', `/v1/webhooks/${id}/deliveries/${first.id}/redeliver`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ webhook_id: id, event_id: first.event_id, attempt: 0, status: 'pending' });
    expect(body.id).not.toBe(first.id);
    await eventually(() => receiver.at('/again').length === 2);
    const bodies = receiver.at('/again').map((arrival) => String(arrival.body));
    expect(bodies[1]).toBe(bodies[0]);
    expect(JSON.parse(bodies[0] ?? '').payload.id).toBe(ticket.id);
    const absent = newId('dlv');
    expectRefused(
      await admin('POST', `/v1/webhooks/${id}/deliveries/${absent}/redeliver`),
      404,
      'NOT_FOUND',
      {
        id: absent,
      },
    );
    await admin('PUT', `/v1/webhooks/${id}`, { active: false });
    expectRefused(
      await admin('POST', `/v1/webhooks/${id}/deliveries/${first.id}/redeliver`),
      409,
      'CONFLICT',
      {
        active: false,
      },
    );
  });

  it('replays what the log holds since a moment', async () => {
    const { body: ticket } = await admin('POST', '/v1/tickets', { title: 'before the webhook' });
    await eventually(async () => {
      const { body } = await admin('GET', '/v1/events?limit=1');
      return body.data[0]?.payload.id === ticket.id;
    });
    const { id } = await make({
      url: `${receiver.url}/replayed`,
      events: ['ticket.created', 'user.created'],
    });
    const replay = { since: ticket.createdAt, eventTypes: ['ticket.created'] };
    const { status, body } = await admin('POST', `/v1/webhooks/${id}/replay`, replay);
    expect({ status, body }).toEqual({ status: 200, body: { queued: 1, next_since: null } });
    await eventually(() => receiver.at('/replayed').length === 1);
    expect(JSON.parse(String(receiver.at('/replayed')[0]?.body)).payload.id).toBe(ticket.id);
    for (const [wrong, field, constraint] of [
      [{}, 'since', 'isDefined'],
      [{ since: 'yesterday' }, 'since', 'isDateTime'],
      [{ ...replay, eventTypes: ['x.y'] }, 'eventTypes.0', 'isIn'],
    ] as const)
      expectRefused(await admin('POST', `/v1/webhooks/${id}/replay`, wrong), 400, 'VALIDATION_ERROR', {
        field,
        constraint,
      });
  });
});
