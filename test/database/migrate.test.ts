import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate } from '../../src/database/migrate.js';
import { createOrm } from '../../src/database/orm.js';
import { newId } from '../../src/entities/ids.js';
import { migrations } from '../../src/entities/migrations/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

describe('migrations', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  function execute<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return database.orm.em.fork().execute(sql, parameters) as unknown as Promise<Row[]>;
  }

  it('bring the database to exactly what the entities say', async () => {
    expect(await database.orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
  });

  it('are complete: the entities and the committed snapshot agree', async () => {
    await promisify(execFile)(process.execPath, ['scripts/create-migration.ts', '--check']);
  });

  it('have nothing left to do the second time', async () => {
    const done = () => execute('select id, name, executed_at from mikro_orm_migrations');
    const before = await done();
    await migrate(database.orm);
    expect(await done()).toEqual(before);
    expect(before).toHaveLength(migrations.length);
  });

  it('are applied once when several nodes start over one empty database', async () => {
    const name = `empty_${randomBytes(6).toString('hex')}`;
    await execute(`create database ${name}`);
    const databaseUrl = Object.assign(new URL(database.url), { pathname: `/${name}` }).href;
    const nodes = await Promise.all([1, 2, 3, 4].map(() => createOrm({ databaseUrl, poolSize: 2 })));
    try {
      await Promise.all(nodes.map((node) => migrate(node)));
      const applied = await nodes[0]?.em.fork().execute('select name from mikro_orm_migrations order by id');
      expect(applied).toEqual(migrations.map((migration) => ({ name: migration.name })));
      expect(await nodes[0]?.schema.getUpdateSchemaSQL({ wrap: false })).toBe('');
    } finally {
      await Promise.all(nodes.map((node) => node.close(true)));
      await execute(`drop database ${name} with (force)`);
    }
  });

  it.each([
    ['event_unsequenced', /ON public\.event USING btree \(.*\) WHERE \(seq IS NULL\)$/],
    [
      'run_active',
      /ON public\.run USING btree \(lease_until\) WHERE .*QUEUED.* AND \(started_at IS NOT NULL\)/,
    ],
    ['ticket_tags_index', /ON public\.ticket USING gin \(tags\)$/],
    ['ticket_search_text_index', /ON public\.ticket USING gin \(search_text\)$/],
  ])('make the index %s', async (name, definition) => {
    const [index] = await execute<{ indexdef: string }>(
      'select indexdef from pg_indexes where indexname = ?',
      [name],
    );
    expect(index?.indexdef).toMatch(definition);
  });

  it('make columns that the database computes', async () => {
    const columns = await execute(
      `select table_name, column_name, coalesce(generation_expression, column_default) as by
       from information_schema.columns where table_schema = 'public'
       and table_name <> 'mikro_orm_migrations' and (is_generated = 'ALWAYS' or column_default like 'nextval%') order by 1, 2`,
    );
    expect(columns).toEqual([
      { table_name: 'event', column_name: 'position', by: expect.stringMatching(/^nextval/) },
      { table_name: 'lineage_event', column_name: 'id', by: expect.stringMatching(/^nextval/) },
      {
        table_name: 'ticket',
        column_name: 'priority_rank',
        by: expect.stringMatching(/^\s*CASE priority\s+WHEN 'critical'::text THEN 4/),
      },
      {
        table_name: 'ticket',
        column_name: 'search_text',
        by: expect.stringMatching(/^to_tsvector\('simple'/),
      },
    ]);
  });

  describe('the ticket totals', () => {
    const statuses = ['new', 'open', 'pending', 'closed'];

    function insertTickets(organizationId: string, count: number, status: string): Promise<unknown> {
      return execute(
        `insert into ticket (id, organization_id, number, title, status, priority, type, requester_id, source, created_at, updated_at)
         select ? || n, ?, n, 'Ticket ' || n, ?, 'low', 'task', 'usr_1', 'api', now(), now() from generate_series(1, ?) n`,
        [newId('tkt'), organizationId, status, count],
      );
    }

    async function totals(organizationId: string): Promise<Record<string, number>> {
      const rows = await execute<{ status: string; total: number }>(
        'select status, total from ticket_total where organization_id = ? and total <> 0 order by status',
        [organizationId],
      );
      return Object.fromEntries(rows.map(({ status, total }) => [status, total]));
    }

    async function counted(organizationId: string): Promise<Record<string, number>> {
      const rows = await execute<{ status: string; total: number }>(
        'select status, count(*)::int as total from ticket where organization_id = ? group by 1 order by 1',
        [organizationId],
      );
      return Object.fromEntries(rows.map(({ status, total }) => [status, total]));
    }

    it('follow inserts, moves, moves to another tenant and deletes', async () => {
      await insertTickets('org_a', 5, 'new');
      expect(await totals('org_a')).toEqual({ new: 5 });
      await execute("update ticket set status = 'open' where organization_id = 'org_a' and number <= 2");
      expect(await totals('org_a')).toEqual({ new: 3, open: 2 });
      await execute("update ticket set title = 'no move' where organization_id = 'org_a'");
      expect(await totals('org_a')).toEqual({ new: 3, open: 2 });
      await execute(
        "update ticket set organization_id = 'org_b' where organization_id = 'org_a' and number = 1",
      );
      expect([await totals('org_a'), await totals('org_b')]).toEqual([{ new: 3, open: 1 }, { open: 1 }]);
      await execute("delete from ticket where organization_id = 'org_a' and status = 'new'");
      expect(await totals('org_a')).toEqual({ open: 1 });
    });

    it('are not touched by what is rolled back', async () => {
      const em = database.orm.em.fork();
      await em.begin();
      await em.execute("update ticket set status = 'closed' where organization_id = 'org_b'");
      await em.rollback();
      expect(await totals('org_b')).toEqual({ open: 1 });
    });

    it('stay right when transactions move many tickets each, in any order of statuses', async () => {
      const each = 30;
      const writers = [0, 1, 2, 3, 4, 5];
      await insertTickets('org_bulk', each * writers.length, 'new');
      const writer = async (seed: number) => {
        for (let step = 0; step < 15; step += 1) {
          await database.orm.em.fork().transactional(async (em) => {
            for (const turn of [0, 1, 2]) {
              await em.execute(
                `update ticket set status = (array['new', 'open', 'pending', 'closed'])[1 + (number * ? + ?) % 4]
                 where organization_id = 'org_bulk' and number between ? and ?`,
                [seed + 1, step + turn, seed * each + 1, (seed + 1) * each],
              );
            }
          });
        }
      };
      await Promise.all(writers.map(writer));
      expect(await totals('org_bulk')).toEqual(await counted('org_bulk'));
    });

    it('stay right under many simultaneous moves in all directions, without a deadlock', async () => {
      const tickets = 40;
      await insertTickets('org_busy', tickets, 'new');
      const mover = async (seed: number) => {
        for (let step = 0; step < 60; step += 1) {
          const status = statuses[(seed * 7 + step * 3) % statuses.length];
          const number = 1 + ((seed * 11 + step * 5) % tickets);
          await execute("update ticket set status = ? where organization_id = 'org_busy' and number = ?", [
            status,
            number,
          ]);
        }
      };
      await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(mover));
      expect(await totals('org_busy')).toEqual(await counted('org_busy'));
      const [deadlocks] = await execute<{ deadlocks: number }>(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      );
      expect(deadlocks).toEqual({ deadlocks: 0 });
    });
  });
});
