import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EntityMetadata } from '@mikro-orm/core';
import type { MikroORM } from '@mikro-orm/postgresql';
import { createOrm } from '../../src/database/orm.js';
import {
  ORGANIZATION_SETTING,
  REQUEST_ROLE,
  SYSTEM_ROLE,
  tenantless,
} from '../../src/entities/row-security.js';
import { Ticket } from '../../src/entities/tickets/ticket.js';
import { type Houses, openHouses } from './houses.js';
import { furnish } from './reference-kinds.js';

/** Each with its reason. */
const ofNoTenant = Object.keys(tenantless);
/** Those of them that a request may not even read. */
const secret = ofNoTenant.filter((table) => !tenantless[table]?.requests.includes('select'));

let houses: Houses;
let narrow: MikroORM;

beforeAll(async () => {
  houses = await openHouses();
  for (const house of [houses.own, houses.stranger]) await furnish(await houses.actor(house));
  const databaseUrl = houses.app.database.url;
  narrow = await createOrm({ databaseUrl, poolSize: 1, role: REQUEST_ROLE });
});

afterAll(async () => {
  await narrow.close(true);
  await houses.close();
});

function asOwner<Row extends object>(sql: string): Promise<Row[]> {
  return houses.em().execute(sql) as unknown as Promise<Row[]>;
}

function requestOf(organizationId?: string) {
  const em = narrow.em.fork();
  if (organizationId !== undefined)
    em.setSessionContext({ variables: { [ORGANIZATION_SETTING]: organizationId } });
  return em;
}

function ownerColumn({ tableName }: EntityMetadata): string {
  return tableName === 'organization' ? 'id' : 'organization_id';
}

function tables(): EntityMetadata[] {
  return [...houses.app.database.orm.getMetadata().getAll().values()];
}

describe('the database', () => {
  it('has a wall around every table it has, and no table that the entities do not know', async () => {
    const found = await asOwner<{ name: string; walled: boolean; policies: string[] }>(
      `select c.relname as name, c.relrowsecurity as walled, array(
         select p.policyname || ' to ' || array_to_string(p.roles, ',') from pg_policies p
         where p.schemaname = 'public' and p.tablename = c.relname order by 1) as policies
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'public' and c.relkind in ('r', 'p', 'v', 'm') and c.relname <> 'mikro_orm_migrations'
       order by 1`,
    );
    const walled = { walled: true, policies: [`system to ${SYSTEM_ROLE}`, `tenant to ${REQUEST_ROLE}`] };
    const open = { walled: false, policies: [] };
    const expected = tables().map(({ tableName }) => ({
      name: tableName,
      ...(ofNoTenant.includes(tableName) ? open : walled),
    }));
    expect(found).toEqual(expected.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  });

  it('lets the roles that serve own nothing, log in nowhere and pass no policy', async () => {
    const roles = await asOwner(
      `select rolname, rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb,
         (select count(*)::int from pg_class where relowner = pg_roles.oid) as owned
       from pg_roles where rolname in ('${REQUEST_ROLE}', '${SYSTEM_ROLE}')`,
    );
    const none = { rolsuper: false, rolbypassrls: false, rolcanlogin: false, rolcreaterole: false };
    expect(roles).toEqual(
      [REQUEST_ROLE, SYSTEM_ROLE].map((rolname) => ({ rolname, ...none, rolcreatedb: false, owned: 0 })),
    );
  });

  it.each(['tenantOrm', 'orm'] as const)('serves as one of them: %s', async (pool) => {
    const [row] = await houses.app.services[pool].em
      .fork()
      .execute<object[]>(`select current_user as role, row_security_active('ticket') as active`);
    expect(row).toEqual({ role: pool === 'orm' ? SYSTEM_ROLE : REQUEST_ROLE, active: true });
  });

  it.each(secret)('lets no request read %s', async (table) => {
    const reading = requestOf(houses.own.organizationId).execute(`select 1 from ${table}`);
    await expect(reading).rejects.toMatchObject({ code: '42501' });
  });
});

describe('a search behind the wall', () => {
  it('uses its index', async () => {
    const { organizationId } = houses.own;
    await asOwner(
      `insert into ticket (id, organization_id, number, title, status, priority, type, requester_id, source, created_at, updated_at)
       select 'tkt_' || n, '${organizationId}', 1000 + n, 'many ' || n, 'new', 'low', 'task', 'usr_x', 'api', now(), now()
       from generate_series(1, 5000) n`,
    );
    await asOwner('analyze ticket');
    const search = `select id from ticket where search_text @@ 'printer'::tsquery`;
    const plan = await requestOf(organizationId).execute<object[]>(`explain ${search}`);
    expect(JSON.stringify(plan)).toContain('ticket_search_text_index');
  });
});

/** Whose rows have no organization of their own. */
const parents: Readonly<Record<string, string>> = {
  run_message: 'run',
  run_task: 'run',
  source_watermark: 'pipeline',
};

describe('a request, whatever its SQL says', () => {
  it('sees no row of any tenant before it names its organization', async () => {
    for (const { tableName } of tables().filter((meta) => !ofNoTenant.includes(meta.tableName)))
      expect([tableName, await requestOf().execute(`select 1 from "${tableName}"`)]).toEqual([tableName, []]);
  });

  it('sees of every table what its organization owns, and all of it', async () => {
    let filled = 0;
    for (const meta of tables().filter(({ tableName }) => !ofNoTenant.includes(tableName))) {
      const { tableName } = meta;
      const isOwn = `organization_id = '${houses.own.organizationId}'`;
      const parent = 'organizationId' in meta.properties ? undefined : parents[tableName];
      const condition = parent
        ? `${parent}_id in (select id from ${parent} where ${isOwn})`
        : `${ownerColumn(meta)} = '${houses.own.organizationId}'`;
      const count = `select count(*)::int as rows from "${tableName}"`;
      const [owned] = await asOwner<{ rows: number }>(`${count} where ${condition}`);
      expect([tableName, await requestOf(houses.own.organizationId).execute(count)]).toEqual([
        tableName,
        [owned],
      ]);
      if (owned && owned.rows > 0) filled += 1;
    }
    expect(filled).toBeGreaterThan(12);
  });

  it('changes and removes nothing of another organization', async () => {
    const before = await houses.digest(houses.stranger);
    const attempt = (sql: string) =>
      requestOf(houses.own.organizationId)
        .execute(sql, [], 'run')
        .then((result) => (result as unknown as { affectedRows: number }).affectedRows);
    // The audit log refuses whoever it is, before any row is looked at.
    const changeable = tables().filter(
      ({ properties, tableName }) => 'organizationId' in properties && tableName !== 'audit_entry',
    );
    for (const meta of changeable) {
      const { tableName } = meta;
      const where = `where organization_id = '${houses.stranger.organizationId}'`;
      expect([
        tableName,
        await attempt(`update "${tableName}" set organization_id = organization_id ${where}`),
      ]).toEqual([tableName, 0]);
      expect([tableName, await attempt(`delete from "${tableName}" ${where}`)]).toEqual([tableName, 0]);
    }
    expect(await houses.digest(houses.stranger)).toBe(before);
  });

  it('gives no row to another organization, neither a new one nor one of its own', async () => {
    const { organizationId } = houses.stranger;
    const move = `update ticket set organization_id = '${organizationId}'`;
    const plant = `insert into team (id, organization_id, name, created_at) values ('team_x', '${organizationId}', 'x', now())`;
    for (const sql of [move, plant])
      await expect(requestOf(houses.own.organizationId).execute(sql)).rejects.toMatchObject({
        code: '42501',
      });
  });

  it('leaves no organization behind on its connection', async () => {
    const owners = (rows: { organizationId: string }[]) => [
      ...new Set(rows.map((row) => row.organizationId)),
    ];
    const read = (organizationId?: string) =>
      requestOf(organizationId).find(Ticket, {}, { filters: false, disableIdentityMap: true });
    for (const { organizationId } of [houses.own, houses.stranger]) {
      expect(owners(await read(organizationId))).toEqual([organizationId]);
      expect(await read()).toEqual([]);
      await requestOf(organizationId).transactional(async (em) => {
        expect(owners(await em.find(Ticket, {}, { filters: false }))).toEqual([organizationId]);
      });
      expect(await read()).toEqual([]);
      await expect(requestOf(organizationId).execute('select 1 / 0')).rejects.toThrow('division by zero');
      expect(await read()).toEqual([]);
    }
  });

  it('sees each its own when many share the connections', async () => {
    const both = [houses.own, houses.stranger].map((house) => house.organizationId);
    const reads = Array.from({ length: 200 }, async (_, index) => {
      const em = houses.app.services.tenantOrm.em.fork();
      const organizationId = both[index % 2] ?? '';
      em.setSessionContext({ variables: { [ORGANIZATION_SETTING]: organizationId } });
      const rows = await em.execute<{ id: string }[]>('select id from organization');
      expect(rows).toEqual([{ id: organizationId }]);
    });
    await Promise.all(reads);
  });

  it('sees inside a transaction what it has written there, and nobody else does', async () => {
    const { organizationId } = houses.own;
    const titled = `select title from ticket where title = 'nested'`;
    await requestOf(organizationId)
      .transactional(async (em) => {
        await em.execute(`update ticket set title = 'nested'`);
        expect(await em.execute(titled)).not.toEqual([]);
        expect(await asOwner(titled)).toEqual([]);
        throw new Error('enough');
      })
      .catch((error: Error) => expect(error.message).toBe('enough'));
    expect(await requestOf(organizationId).execute(titled)).toEqual([]);
  });

  it.each(["x', true); drop table ticket; --", "o'); select 1; --", '\\', "'"])(
    'is not led astray by an organization called %s',
    async (name) => {
      expect(await requestOf(name).execute('select id from ticket')).toEqual([]);
    },
  );
});
