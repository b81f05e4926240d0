import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { raw } from '@mikro-orm/postgresql';
import { readRows, readRowsAgain } from '../../src/database/read-rows.js';
import { Connection } from '../../src/entities/connections/connection.js';
import { Event } from '../../src/entities/events/event.js';
import { newId, newUuid } from '../../src/entities/ids.js';
import { Run } from '../../src/entities/runs/run.js';
import { ORGANIZATION_FILTER, WORKSPACE_FILTER } from '../../src/entities/tenancy.js';
import { Ticket } from '../../src/entities/tickets/ticket.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const MINE = 'org_mine';
const THEIRS = 'org_theirs';
const WORKSPACE = newUuid();
const AT = new Date('2026-03-01T10:20:30.456Z');

describe('readRows', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    const em = database.orm.em.fork();
    for (const [organizationId, number] of [
      [MINE, 1],
      [MINE, 2],
      [THEIRS, 1],
    ] as const) {
      em.create(Ticket, {
        id: newId('tkt'),
        organizationId,
        number,
        title: `Ticket ${number} of ${organizationId}`,
        description: null,
        status: 'new',
        priority: 'high',
        type: 'incident',
        requesterId: 'usr_1',
        source: 'api',
        tags: ['a,b', 'c"d', ''],
        customFields: { nested: { list: [1, 'two', null] } },
        createdAt: AT,
        updatedAt: AT,
      });
    }
    em.create(Event, {
      id: newId('evt'),
      organizationId: MINE,
      seq: 9_007_199_254_740_991,
      type: 'ticket.created',
      subjectId: 'tkt_1',
      payload: {},
      timestamp: AT,
    });
    for (const workspaceId of [WORKSPACE, newUuid()]) {
      em.create(Connection, {
        id: newUuid(),
        organizationId: MINE,
        workspaceId,
        name: 'warehouse',
        type: 'postgres',
        config: { host: 'db' },
        sealedCredentials: 'sealed',
        createdAt: AT,
        updatedAt: AT,
        createdBy: 'sub',
      });
    }
    await em.flush();
  });
  afterAll(() => database.close());

  function emOf(organizationId: string) {
    const em = database.orm.em.fork();
    em.setFilterParams(ORGANIZATION_FILTER, { organizationId });
    return em;
  }

  it('gives the values an entity would have', async () => {
    const em = emOf(MINE);
    const [row] = await readRows(em, em.createQueryBuilder(Ticket, 't').select('*').where({ number: 1 }));
    const { priorityRank, ...entity } = (await em.findOneOrFail(Ticket, { number: 1 })) as Ticket & {
      priorityRank: number;
    };
    expect(priorityRank).toBe(3);
    expect(row).toEqual({ ...entity });
    expect(row?.createdAt).toEqual(AT);
    expect(row?.tags).toEqual(['a,b', 'c"d', '']);
    expect(row?.customFields).toEqual({ nested: { list: [1, 'two', null] } });
    expect(row?.resolvedAt).toBeNull();
  });

  it('gives a bigint as a number', async () => {
    const em = emOf(MINE);
    const rows = await readRows(em, em.createQueryBuilder(Event).select(['seq', 'timestamp']));
    expect(rows).toEqual([{ seq: 9_007_199_254_740_991, timestamp: AT }]);
  });

  it('reads neither lazy nor hidden columns for a star, and every column that is named', async () => {
    const em = emOf(MINE);
    em.setFilterParams(WORKSPACE_FILTER, { workspaceId: WORKSPACE });
    const [starred] = await readRows(em, em.createQueryBuilder(Connection, 'c').select('*'));
    const [named] = await readRows(
      em,
      em.createQueryBuilder(Connection, 'c').select(['id', 'sealedCredentials']),
    );
    expect(starred).toMatchObject({ name: 'warehouse', config: { host: 'db' } });
    expect(starred).not.toHaveProperty('sealedCredentials');
    expect(named).toEqual({ id: starred?.id, sealedCredentials: 'sealed' });
  });

  it('keeps a column that is no property under its own name', async () => {
    const em = emOf(MINE);
    const query = em.createQueryBuilder(Ticket, 't').select(['number', raw('upper(t.title) as shouted')]);
    expect(await readRows(em, query.orderBy({ number: 'desc' }))).toEqual([
      { number: 2, shouted: 'TICKET 2 OF ORG_MINE' },
      { number: 1, shouted: 'TICKET 1 OF ORG_MINE' },
    ]);
  });

  it('leaves the identity map alone', async () => {
    const em = emOf(MINE);
    await readRows(em, em.createQueryBuilder(Ticket, 't').select('*'));
    expect(em.getUnitOfWork().getIdentityMap().values()).toEqual([]);
  });

  it('reads inside the transaction of its EntityManager', async () => {
    const em = emOf(MINE);
    await em.transactional(async (inner) => {
      await inner.nativeUpdate(Ticket, { number: 1 }, { title: 'changed, not committed' });
      const query = inner.createQueryBuilder(Ticket, 't').select(['title']).where({ number: 1 });
      expect(await readRows(inner, query)).toEqual([{ title: 'changed, not committed' }]);
      await inner.rollback();
    });
  });

  describe('tenancy', () => {
    it.each([
      [MINE, 2],
      [THEIRS, 1],
      ['org_nobody', 0],
    ])('shows %s its own rows only', async (organizationId, count) => {
      const em = emOf(organizationId);
      const rows = await readRows(em, em.createQueryBuilder(Ticket).select('*'));
      expect(rows).toHaveLength(count);
      expect(new Set(rows.map((row) => row.organizationId)).size).toBe(Math.min(count, 1));
    });

    it('is not argued away by the condition of a query', async () => {
      const em = emOf(MINE);
      const query = em.createQueryBuilder(Ticket, 't').select('*').where({ organizationId: THEIRS });
      expect(await readRows(em, query.orWhere({ organizationId: THEIRS }))).toEqual([]);
    });

    it('is closed when nobody said who asks, for lists and for entities', async () => {
      const em = database.orm.em.fork();
      const missing = /No arguments provided for filter 'organization'/;
      await expect(readRows(em, em.createQueryBuilder(Ticket).select('*'))).rejects.toThrow(missing);
      await expect(em.find(Ticket, {})).rejects.toThrow(missing);
      await expect(em.count(Ticket)).rejects.toThrow(missing);
      await expect(em.nativeUpdate(Ticket, {}, { title: 'mine now' })).rejects.toThrow(missing);
      await expect(em.nativeDelete(Ticket, {})).rejects.toThrow(missing);
    });

    it('needs the workspace as well where an entity belongs to one', async () => {
      const em = emOf(MINE);
      await expect(readRows(em, em.createQueryBuilder(Run).select('*'))).rejects.toThrow(
        /No arguments provided for filter 'workspace'/,
      );
    });

    it.each([undefined, null])('shows nothing for an organization that is %s', async (organizationId) => {
      const em = database.orm.em.fork();
      em.setFilterParams(ORGANIZATION_FILTER, { organizationId });
      expect(await readRows(em, em.createQueryBuilder(Ticket).select('*')).catch(() => [])).toEqual([]);
    });
  });

  it('remembers a query for the tenant it was built for, and for no other', async () => {
    let built = 0;
    const titles = async (organizationId: string) => {
      const em = emOf(organizationId);
      const rows = await readRowsAgain(em, ['by number'], async () => {
        built += 1;
        return em.createQueryBuilder(Ticket, 't').select('*').orderBy({ number: 'asc' });
      });
      return rows.map(({ title }) => title);
    };
    const mine = ['Ticket 1 of org_mine', 'Ticket 2 of org_mine'];
    expect(await titles(MINE)).toEqual(mine);
    expect(await titles(MINE)).toEqual(mine);
    expect(built).toBe(1);
    expect(await titles(THEIRS)).toEqual(['Ticket 1 of org_theirs']);
    expect(built).toBe(2);
  });
});
