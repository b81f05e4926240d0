import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recordAudit, verifyAuditChain } from '../../src/domain/audit/index.js';
import { AuditEntry } from '../../src/entities/audit/audit-entry.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let organizations = 0;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const freshOrganization = () => `org_${++organizations}`;
const em = () => database.orm.em.fork();
const entry = (organizationId: string | null, after: object | null = null) => ({
  organizationId,
  actor: { type: 'user' as const, id: 'usr_1' },
  action: 'users.updated' as const,
  resource: { type: 'user', id: 'usr_2' },
  after,
});
const entriesOf = (organizationId: string) =>
  em().find(AuditEntry, { organizationId }, { filters: false, orderBy: { position: 'asc' } });

/** As somebody with the rights of a superuser would: past the triggers. */
async function tamper(statement: string, parameters: string[]): Promise<void> {
  await em().transactional(async (writer) => {
    await writer.execute("set local session_replication_role = 'replica'");
    await writer.execute(statement, parameters);
  });
}

describe('recordAudit', () => {
  it('makes one chain without gap or fork of 100 simultaneous entries', async () => {
    const organizationId = freshOrganization();
    await Promise.all(Array.from({ length: 100 }, (_, n) => recordAudit(em(), entry(organizationId, { n }))));
    const entries = await entriesOf(organizationId);
    expect(entries.map(({ position }) => position)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    expect(new Set(entries.map(({ previousHash }) => previousHash)).size).toBe(100);
    expect(await verifyAuditChain(em(), organizationId)).toMatchObject({ intact: true, length: 100 });
  });

  it('is committed with the change or not at all, and leaves no gap', async () => {
    const organizationId = freshOrganization();
    await recordAudit(em(), entry(organizationId));
    const failing = em().transactional(async (writer) => {
      await recordAudit(writer, entry(organizationId));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await recordAudit(em(), entry(organizationId));
    expect((await entriesOf(organizationId)).map(({ position }) => position)).toEqual([1, 2]);
    expect(await verifyAuditChain(em(), organizationId)).toMatchObject({ intact: true, length: 2 });
  });

  it('keeps what PostgreSQL can’t hold out, and secrets hidden', async () => {
    const organizationId = freshOrganization();
    await recordAudit(em(), {
      ...entry(organizationId, {
        name: 'nul \0 and half \ud83d',
        at: new Date(0),
        absent: undefined,
        zero: -0,
        huge: 1e21,
        nested: { b: 1, a: ['ü', null], passwordHash: '$argon2id$secret' },
      }),
      address: '10.0.0.1\0',
    });
    const [stored] = await entriesOf(organizationId);
    expect(stored).toMatchObject({
      address: '10.0.0.1',
      after: {
        name: 'nul  and half �',
        at: '1970-01-01T00:00:00.000Z',
        nested: { b: 1, a: ['ü', null], passwordHash: '[redacted]' },
      },
    });
    expect(await verifyAuditChain(em(), organizationId)).toMatchObject({ intact: true, length: 1 });
  });

  it('has a chain for what belongs to no organization', async () => {
    await recordAudit(em(), entry(null));
    expect(await verifyAuditChain(em(), null)).toMatchObject({ intact: true, length: 1 });
  });
});

describe('the database', () => {
  it.each([
    'update audit_entry set action = action',
    'delete from audit_entry',
    'truncate audit_entry',
    "update audit_chain set head = 'x'",
    'update audit_chain set length = length - 1',
    'delete from audit_chain',
  ])('refuses %s', async (statement) => {
    await recordAudit(em(), entry(freshOrganization()));
    await expect(em().execute(statement)).rejects.toMatchObject({ code: '23001' });
  });
});

describe('verifyAuditChain', () => {
  it('finds an empty chain intact', async () => {
    expect(await verifyAuditChain(em(), freshOrganization())).toMatchObject({ intact: true, length: 0 });
  });

  it.each([
    ['a changed entry', "update audit_entry set action = 'nothing.happened'", 2, 'changed'],
    ['a changed time', "update audit_entry set occurred_at = occurred_at - interval '1 hour'", 2, 'changed'],
    ['a deleted entry', 'delete from audit_entry', 2, 'missing'],
    ['an entry with another past', 'update audit_entry set previous_hash = hash', 2, 'unlinked'],
  ])('finds %s', async (_what, statement, position, reason) => {
    const organizationId = freshOrganization();
    for (let n = 0; n < 3; n += 1) await recordAudit(em(), entry(organizationId, { n }));
    await tamper(`${statement} where organization_id = ? and position = 2`, [organizationId]);
    expect(await verifyAuditChain(em(), organizationId)).toEqual({ intact: false, position, reason });
  });

  it('finds the end cut off, and an end that is not known', async () => {
    const organizationId = freshOrganization();
    for (let n = 0; n < 3; n += 1) await recordAudit(em(), entry(organizationId, { n }));
    await tamper('delete from audit_entry where organization_id = ? and position = 3', [organizationId]);
    expect(await verifyAuditChain(em(), organizationId)).toMatchObject({ position: 3, reason: 'missing' });
    await tamper('update audit_chain set length = 1 where organization_id = ?', [organizationId]);
    expect(await verifyAuditChain(em(), organizationId)).toMatchObject({ reason: 'not the end' });
  });

  it('goes through more entries than it reads at a time', async () => {
    const organizationId = freshOrganization();
    await em().transactional(async (writer) => {
      for (let n = 0; n < 1_005; n += 1) await recordAudit(writer, entry(organizationId, { n }));
    });
    expect(await verifyAuditChain(em(), organizationId)).toMatchObject({ intact: true, length: 1_005 });
  });
});
