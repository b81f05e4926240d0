import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweepEvents } from '../../src/domain/events/index.js';
import { Event } from '../../src/entities/events/event.js';
import { Organization } from '../../src/entities/identity/organization.js';
import { newId } from '../../src/entities/ids.js';
import { eventTypes } from '../../src/events/catalogue.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, type Call, caller } from '../support/rest.js';

const DAY_MS = 86_400_000;
let app: TestApp;
let admin: Call;

beforeAll(async () => {
  app = await startTestApp({ ROLE: 'api' });
  admin = caller(app.url, await app.itsm('admin@acme.test'));
});

afterAll(() => app.close());

interface Shown {
  id: string;
  seq: number;
  type: string;
  payload: { id: string };
}

function refused({ status, body }: Answer, expected: number, details: object) {
  expect({ status, details: body.error.details }).toEqual({
    status: expected,
    details: expect.objectContaining(details),
  });
}

/** The events of so many new tickets, oldest first. */
async function record(count: number): Promise<Shown[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push((await admin('POST', '/v1/tickets', { title: `event ${index}` })).body.id);
  let found: Shown[] = [];
  await eventually(async () => {
    const { body } = await admin('GET', `/v1/events?limit=${count}`);
    found = body.data.toReversed();
    return found.map(({ payload }) => payload.id).join() === ids.join();
  });
  return found;
}

async function insertOld(days: number): Promise<string> {
  const em = app.database.orm.em.fork();
  const { id: organizationId } = await em.findOneOrFail(Organization, { slug: 'acme' });
  const id = newId('evt');
  await em.insert(Event, {
    id,
    organizationId,
    seq: null,
    type: 'user.updated',
    subjectId: 'usr_1',
    payload: {},
    timestamp: new Date(Date.now() - days * DAY_MS),
  });
  await eventually(
    async () =>
      (await app.database.orm.em.fork().count(Event, { id, seq: { $ne: null } }, { filters: false })) === 1,
  );
  return id;
}

describe('the event log', () => {
  it('shows envelopes, the newest first, in pages', async () => {
    const events = await record(4);
    const { body } = await admin('GET', '/v1/events?limit=2');
    expect(body.data).toEqual([events[3], events[2]]);
    expect(body.meta.pagination).toMatchObject({ page: 1, limit: 2, hasMore: true });
    expect(events[0]).toEqual({
      id: expect.stringMatching(/^evt_/),
      seq: expect.any(Number),
      type: 'ticket.created',
      timestamp: expect.stringMatching(/Z$/),
      organizationId: expect.stringMatching(/^org_/),
      payload: expect.objectContaining({ title: 'event 0', status: 'new' }),
    });
    const second = await admin('GET', `/v1/events?limit=2&starting_after=${events[2]?.id}`);
    expect(second.body.data).toEqual([events[1], events[0]]);
    expect((await admin('GET', `/v1/events/${events[1]?.id}`)).body).toEqual(events[1]);
  });

  it('goes on after a number, the oldest first, over REST and GraphQL', async () => {
    const events = await record(3);
    const after = events[0]?.seq;
    const rest = await admin(
      'GET',
      `/v1/events?after=${after}&sortOrder=asc&type=ticket.created,user.created`,
    );
    expect(rest.body.data).toEqual(events.slice(1));
    const query = `query ($after: SafeInt) {
      events(after: $after, sortOrder: asc, limit: 1) { data { seq } meta { pagination { total hasMore } } }
    }`;
    const { body } = await admin('POST', '/graphql', { query, variables: { after } });
    expect(body.data.events).toEqual({
      data: [{ seq: events[1]?.seq }],
      meta: { pagination: { total: 2, hasMore: true } },
    });
    const none = await admin('GET', '/v1/events?type=sla.breached');
    expect(none.body.data).toEqual([]);
  });

  it('refuses what it does not know', async () => {
    refused(await admin('GET', '/v1/events?type=ticket.created,x.y'), 400, {
      field: 'types.1',
      constraint: 'isIn',
    });
    refused(await admin('GET', '/v1/events?after=-1'), 400, { field: 'after', constraint: 'min' });
    refused(await admin('GET', '/v1/events?limit=1001'), 400, { field: 'limit', constraint: 'max' });
    refused(await admin('GET', `/v1/events?starting_after=${newId('evt')}`), 400, {
      field: 'starting_after',
      constraint: 'exists',
    });
    const absent = newId('evt');
    refused(await admin('GET', `/v1/events/${absent}`), 404, { resource: 'event', id: absent });
    refused(await admin('GET', '/v1/events/nonsense'), 404, { resource: 'event', id: 'nonsense' });
  });

  it('reaches 30 days back and is kept a day longer', async () => {
    const [young, hidden, old] = [await insertOld(29), await insertOld(30.5), await insertOld(31.5)];
    expect((await admin('GET', `/v1/events/${young}`)).status).toBe(200);
    for (const id of [hidden, old]) refused(await admin('GET', `/v1/events/${id}`), 404, { id });
    const listed = JSON.stringify((await admin('GET', '/v1/events?limit=1000')).body);
    expect(listed).toContain(young);
    expect(listed).not.toContain(hidden);
    expect(await sweepEvents(app.services, new AbortController().signal)).toBe(1);
    const left = await app.database.orm.em
      .fork()
      .find(Event, { id: { $in: [young, hidden, old] } }, { filters: false });
    expect(left.map(({ id }) => id).sort()).toEqual([young, hidden].sort());
  });

  it('hides internal comments from who may not read them all', async () => {
    const em = app.database.orm.em.fork();
    const { id: organizationId } = await em.findOneOrFail(Organization, { slug: 'acme' });
    const ids = { public: newId('evt'), internal: newId('evt') };
    for (const visibility of ['public', 'internal'] as const)
      await em.insert(Event, {
        id: ids[visibility],
        organizationId,
        seq: null,
        type: 'comment.added',
        subjectId: 'tkt_1',
        payload: { visibility },
        timestamp: new Date(),
      });
    await eventually(
      async () => (await admin('GET', '/v1/events?type=comment.added')).body.data.length === 2,
    );
    const permissions = ['events:read:all', 'comments:read:team'];
    const { body: key } = await admin('POST', '/v1/api-keys', { name: 'log', permissions });
    const bearer = caller(app.url, { 'x-api-key': key.key });
    const { body } = await bearer('GET', '/v1/events?type=comment.added');
    expect(body.data.map(({ id }: Shown) => id)).toEqual([ids.public]);
    refused(await bearer('GET', `/v1/events/${ids.internal}`), 404, { id: ids.internal });
    expect((await bearer('GET', '/v1/events?limit=1000')).body.data.length).toBeGreaterThan(1);
  });

  it('publishes the catalogue with schemas', async () => {
    const { status, body } = await admin('GET', '/v1/events/types');
    expect(status).toBe(200);
    expect(body.data.map(({ type }: { type: string }) => type)).toEqual(eventTypes);
    expect(body.data).toContainEqual({
      type: 'change.approved',
      category: 'change',
      meaning: 'approved by the required approvers',
      schema: expect.objectContaining({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        required: ['id', 'title', 'risk_level', 'approved_by', 'scheduled_at'],
        additionalProperties: false,
      }),
    });
  });
});
