import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type Pool, types } from 'pg';
import { startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { migrate } from '../../src/database/migrate.js';
import { nativePool } from '../../src/database/native-pool.js';
import { createOrm } from '../../src/database/orm.js';
import { readRows } from '../../src/database/read-rows.js';
import { ORGANIZATION_SETTING, REQUEST_ROLE } from '../../src/entities/row-security.js';
import { ORGANIZATION_FILTER } from '../../src/entities/tenancy.js';
import { Ticket } from '../../src/entities/tickets/ticket.js';
import { openPool } from './open-pool.js';
import { seedTickets } from './seed-tickets.js';

interface Effort {
  rounds: number;
  seconds: number;
}

type Way = () => Promise<unknown[]>;

const READERS = 16;
const TENANTS = 10;
const TICKETS_EACH = 10_000;
const LIMIT = 25;
const ORGANIZATION = 'org_bench_3';

/** The first way is the peer; every other line is its ratio to it. */
export async function compareReads(effort: Effort): Promise<string[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'opsgraph-bench-'));
  const server = await startEmbeddedPostgres({ dataDir });
  const bare = openPool({ connectionString: server.url, max: READERS });
  const orm = await createOrm({ databaseUrl: server.url, poolSize: READERS });
  const tenantOrm = await createOrm({ databaseUrl: server.url, poolSize: READERS, role: REQUEST_ROLE });
  try {
    await migrate(orm);
    await fill(server.url);
    const ways = await { ...(await waysToRead(orm, bare)), ...walledWays(tenantOrm) };
    const rates = new Map(Object.keys(ways).map((name): [string, number[]] => [name, []]));
    for (const way of Object.values(ways)) await readsPerSecond(way, effort.seconds / 2);
    for (let round = 0; round < effort.rounds; round += 1) {
      for (const [name, way] of Object.entries(ways)) {
        rates.get(name)?.push(await readsPerSecond(way, effort.seconds));
      }
    }
    return report(rates);
  } finally {
    await tenantOrm.close(true);
    await orm.close(true);
    await bare.end();
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function fill(databaseUrl: string): Promise<void> {
  for (let tenant = 0; tenant < TENANTS; tenant += 1) {
    await seedTickets({
      databaseUrl,
      organizationId: `org_bench_${tenant}`,
      userIds: ['usr_1', 'usr_2', 'usr_3'],
      teamIds: ['team_1', 'team_2'],
      count: TICKETS_EACH,
      until: new Date('2026-01-01T00:00:00Z'),
    });
  }
}

const newest = { orderBy: { createdAt: 'desc', id: 'desc' }, limit: LIMIT } as const;

function list(em: EntityManager) {
  return em.createQueryBuilder(Ticket, 't').select('*').orderBy(newest.orderBy).limit(LIMIT);
}

/** As the role of requests, filters and policies both. */
function walledWays(tenantOrm: MikroORM): Record<string, Way> {
  const em = () => {
    const fork = tenantOrm.em.fork();
    fork.setFilterParams(ORGANIZATION_FILTER, { organizationId: ORGANIZATION });
    fork.setSessionContext({ variables: { [ORGANIZATION_SETTING]: ORGANIZATION } });
    return fork;
  };
  return {
    'readRows behind row-level security': () => {
      const fork = em();
      return readRows(fork, list(fork));
    },
    'readRows behind row-level security, in a transaction of its own': () =>
      em().transactional((inner) => readRows(inner, list(inner))),
    'find behind row-level security': () => em().find(Ticket, {}, newest),
  };
}

async function waysToRead(orm: MikroORM, bare: Pool): Promise<Record<string, Way>> {
  const em = () => {
    const fork = orm.em.fork();
    fork.setFilterParams(ORGANIZATION_FILTER, { organizationId: ORGANIZATION });
    return fork;
  };
  const columns = orm
    .getMetadata(Ticket)
    .props.filter((property) => !property.lazy && !property.hidden)
    .map((property) => `t.${property.fieldNames[0]} as "${property.name}"`);
  const text = `select ${columns.join(', ')} from ticket t where t.organization_id = $1 order by t.created_at desc, t.id desc limit $2`;
  const query = { text, values: [ORGANIZATION, LIMIT] };
  const pool = await nativePool(orm);
  return {
    'bare pg': async () => (await bare.query(query)).rows,
    'bare pg, prepared': async () => (await bare.query({ ...query, name: 'tickets' })).rows,
    'bare pg on the pool of the ORM': async () => (await pool.query({ ...query, types })).rows,
    readRows: async () => {
      const fork = em();
      return readRows(fork, list(fork));
    },
    'QueryBuilder, star, no mapping': async () => {
      const fork = em();
      const builder = list(fork);
      await builder.applyFilters();
      return builder.execute('all', false);
    },
    'find without identity map': () => em().find(Ticket, {}, { ...newest, disableIdentityMap: true }),
    find: () => em().find(Ticket, {}, newest),
  };
}

async function readsPerSecond(way: Way, seconds: number): Promise<number> {
  const start = performance.now();
  let reads = 0;
  const reader = async () => {
    while (performance.now() < start + seconds * 1_000) {
      const rows = await way();
      if (rows.length !== LIMIT) throw new Error(`expected ${LIMIT} rows, got ${rows.length}`);
      reads += 1;
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return (reads / (performance.now() - start)) * 1_000;
}

function report(rates: Map<string, number[]>): string[] {
  const medians = [...rates].map(([name, values]): [string, number] => [name, median(values)]);
  const peer = medians[0]?.[1] ?? Number.NaN;
  return medians.map(([name, rate]) => `${(rate / peer).toFixed(2)}  ${name} (${rate.toFixed(0)}/s)`);
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
