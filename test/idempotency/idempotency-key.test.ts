import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweepAnswers } from '../../src/domain/idempotency/index.js';
import { IdempotentAnswer } from '../../src/entities/idempotency/idempotent-answer.js';
import { ApiKey } from '../../src/entities/identity/api-key.js';
import { newUuid } from '../../src/entities/ids.js';
import { Ticket } from '../../src/entities/tickets/ticket.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Answer, type Call, caller } from '../support/rest.js';

const DAY_MS = 86_400_000;
let now = Date.now();
let app: TestApp;
let admin: Call;

beforeAll(async () => {
  app = await startTestApp({}, { now: () => new Date(now) });
  admin = caller(app.url, await app.itsm('admin@acme.test'));
});

afterAll(() => app.close());

const keyed = (key: string) => ({ 'idempotency-key': key });
const create = (key: string, title: string, by: Call = admin, path = '/v1/tickets') =>
  by('POST', path, { title }, keyed(key));
const titled = (title: string) => app.database.orm.em.fork().count(Ticket, { title }, { filters: false });

function refused({ status, body }: Answer, expected: number, details: object) {
  expect({ status, details: body.error.details }).toEqual({
    status: expected,
    details: expect.objectContaining(details),
  });
}

describe('a creating POST with an Idempotency-Key', () => {
  it('is done once and answered alike, headers included', async () => {
    const [key, title] = [newUuid(), newUuid()];
    const first = await create(key, title);
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const second = await create(key, title);
    expect({ status: second.status, body: second.body }).toEqual({ status: 201, body: first.body });
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await titled(title)).toBe(1);
  });

  it('is done once by twenty at once, on the same answer', async () => {
    const [key, title] = [newUuid(), newUuid()];
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(key, title)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await titled(title)).toBe(1);
  });

  it('gives a secret again that is kept encrypted only', async () => {
    const key = newUuid();
    const wish = { name: key, permissions: ['tickets:read:all'] };
    const first = await admin('POST', '/v1/api-keys', wish, keyed(key));
    const second = await admin('POST', '/v1/api-keys', wish, keyed(key));
    expect(second.body).toEqual(first.body);
    expect(second.body.key).toMatch(/^tnt_/);
    expect(second.headers.get('cache-control')).toBe('no-store');
    const em = app.database.orm.em.fork();
    expect(await em.count(ApiKey, { name: key }, { filters: false })).toBe(1);
    const rows = JSON.stringify(await em.execute('select * from idempotent_answer'));
    for (const secret of [first.body.key, key, first.body.id]) expect(rows).not.toContain(secret);
  });

  it('is refused for another body, another path and an unusable key', async () => {
    const [key, title] = [newUuid(), newUuid()];
    await create(key, title);
    refused(await create(key, `${title} changed`), 409, { field: 'Idempotency-Key', reason: 'keyReused' });
    const elsewhere = { name: title, permissions: ['tickets:read:all'] };
    refused(await admin('POST', '/v1/api-keys', elsewhere, keyed(key)), 409, { reason: 'keyReused' });
    refused(await create('x'.repeat(256), title), 400, {
      field: 'Idempotency-Key',
      constraint: 'maxLength',
    });
    refused(await create(' ', title), 400, { field: 'Idempotency-Key', constraint: 'isNotEmpty' });
    expect(await titled(title)).toBe(1);
  });

  it('is nobody else’s: neither a colleague’s nor another organization’s', async () => {
    const [key, title] = [newUuid(), newUuid()];
    const ids = new Set<string>();
    for (const email of ['admin@acme.test', 'manager@acme.test', 'admin@globex.test']) {
      const answer = await create(key, title, caller(app.url, await app.itsm(email)));
      expect(answer.headers.get('idempotent-replayed')).toBeNull();
      ids.add(answer.body.id);
    }
    expect(ids.size).toBe(3);
  });

  it('that failed leaves the key free', async () => {
    const [key, title] = [newUuid(), newUuid()];
    const wish = { title, assigneeId: 'usr_00000000000000000000000000' };
    const failed = await admin('POST', '/v1/tickets', wish, keyed(key));
    expect(failed.status).toBe(400);
    expect((await admin('POST', '/v1/tickets', { title: '' }, keyed(key))).status).toBe(400);
    expect((await create(key, title)).status).toBe(201);
  });

  it('counts again after 24 hours, and is forgotten then', async () => {
    const [key, title] = [newUuid(), newUuid()];
    const first = await create(key, title);
    now += DAY_MS - 1;
    admin = caller(app.url, await app.itsm('admin@acme.test'));
    expect((await create(key, title)).body.id).toBe(first.body.id);
    now += 1;
    admin = caller(app.url, await app.itsm('admin@acme.test'));
    const later = await create(key, title);
    expect(later.status).toBe(201);
    expect(later.body.id).not.toBe(first.body.id);
    now += DAY_MS;
    expect(await sweepAnswers(app.services, new AbortController().signal)).toBeGreaterThan(0);
    const left = await app.database.orm.em.fork().count(IdempotentAnswer, {}, { filters: false });
    expect(left).toBe(0);
    admin = caller(app.url, await app.itsm('admin@acme.test'));
  });

  it('that was broken off by the death of its server is told apart and not done again', async () => {
    const [key, title] = [newUuid(), newUuid()];
    await create(key, title);
    const em = app.database.orm.em.fork();
    await em.execute('update idempotent_answer set sealed_answer = null');
    now += 11_000;
    refused(await create(key, title), 409, { field: 'Idempotency-Key', reason: 'inProgress' });
    expect(await titled(title)).toBe(1);
  });

  it('matters to no other request', async () => {
    const key = newUuid();
    for (const title of ['first', 'second']) {
      const { body } = await admin('POST', '/v1/tickets', { title });
      const changed = await admin('PATCH', `/v1/tickets/${body.id}`, { title: `${title}!` }, keyed(key));
      expect(changed.body.title).toBe(`${title}!`);
    }
  });
});
