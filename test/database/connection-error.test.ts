import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MikroORM } from '@mikro-orm/postgresql';
import { isDatabaseAway } from '../../src/database/connection-error.js';
import { migrate } from '../../src/database/migrate.js';
import { nativePool } from '../../src/database/native-pool.js';
import { createOrm } from '../../src/database/orm.js';
import { findPostgresBinaries, type PostgresBinaries } from '../../src/database/postgres-binaries.js';
import {
  clusterDirectory,
  openCluster,
  type PostgresCluster,
  SUPERUSER,
} from '../../src/database/postgres-cluster.js';
import { freePort, type Postmaster, startPostmaster } from '../../src/database/postmaster.js';
import { findServerAccount } from '../../src/database/server-account.js';
import { Organization } from '../../src/entities/identity/organization.js';
import { eventually } from '../support/eventually.js';

const POOL_SIZE = 4;

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

/** The real server, stopped and started under an ORM that stays. */
describe('a database that goes away and comes back', () => {
  let dataDir: string;
  let binaries: PostgresBinaries;
  let cluster: PostgresCluster;
  let port: number;
  let postmaster: Postmaster;
  let orm: MikroORM;

  const boot = () => startPostmaster(binaries.postgres, cluster, port, { fsync: 'off' }, undefined);
  /** The children of a killed server notice by themselves, and until then its memory is in use. */
  const bootAgain = () =>
    eventually(() =>
      boot().then(
        (started) => {
          postmaster = started;
          return true;
        },
        () => false,
      ),
    );
  const ask = () => orm.em.fork().execute('select 1 as one');
  const organization = (id: string) => ({ id, slug: id, name: id, createdAt: new Date() });

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-restart-'));
    const account = await findServerAccount(clusterDirectory(dataDir));
    binaries = await findPostgresBinaries(account);
    cluster = await openCluster(dataDir, binaries, account, false);
    port = await freePort();
    postmaster = await boot();
    const databaseUrl = `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/postgres`;
    orm = await createOrm({ databaseUrl, poolSize: POOL_SIZE });
    await migrate(orm);
  });
  afterAll(async () => {
    await orm.close(true);
    await postmaster.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('is told apart from a statement that is wrong', async () => {
    const em = orm.em.fork();
    await em.insert(Organization, organization('org_1'));
    for (const work of [
      em.execute('select nonsense'),
      em.execute('select 1/0'),
      em.insert(Organization, organization('org_1')),
      em.execute("set statement_timeout = '10ms'; select pg_sleep(1)"),
    ]) {
      expect(isDatabaseAway(await failure(work))).toBe(false);
    }
    for (const other of [undefined, null, 'ECONNREFUSED', new Error('Out of cheese'), { code: 42 }]) {
      expect(isDatabaseAway(other)).toBe(false);
    }
  });

  it('answers as away for reads, entities and transactions, and heals by itself', async () => {
    // Idle connections in the pool, one of them inside a transaction.
    await Promise.all([ask(), ask(), ask()]);
    const open = orm.em.fork();
    await open.begin();
    await open.insert(Organization, organization('org_open'));

    await postmaster.stop();
    const failures = await Promise.all([
      failure(ask()),
      failure(ask()),
      failure(orm.em.fork().find(Organization, {})),
      failure(orm.em.fork().transactional((em) => em.find(Organization, {}))),
      failure(open.execute('select 1')),
      failure(open.commit()),
    ]);
    for (const error of failures) expect([error, isDatabaseAway(error)]).toEqual([error, true]);
    await open.rollback().catch(() => {});

    postmaster = await boot();
    expect(await ask()).toEqual([{ one: 1 }]);
    const em = orm.em.fork();
    em.create(Organization, organization('org_after'));
    await em.flush();
    const ids = (await orm.em.fork().find(Organization, {}, { orderBy: { id: 'asc' } })).map(({ id }) => id);
    expect(ids).toEqual(['org_1', 'org_after']);
  });

  it('gives back the connections of transactions that an outage ended, commits included', async () => {
    for (const end of ['commit', 'rollback', 'callback'] as const) {
      const open = await Promise.all(
        Array.from({ length: POOL_SIZE }, async () => {
          const em = orm.em.fork();
          let goOn = () => {};
          const gate = new Promise<void>((resolve) => {
            goOn = resolve;
          });
          if (end !== 'callback') await em.begin();
          const work =
            end === 'callback'
              ? em.transactional((inner) => gate.then(() => inner.execute('select 1')))
              : gate.then(() => em[end]());
          return {
            work: work.then(
              () => {},
              () => em.rollback().catch(() => {}),
            ),
            goOn,
          };
        }),
      );
      await postmaster.stop();
      for (const { goOn } of open) goOn();
      await Promise.all(open.map(({ work }) => work));
      postmaster = await boot();
      expect(await Promise.all(Array.from({ length: POOL_SIZE }, ask))).toEqual(
        Array(POOL_SIZE).fill([{ one: 1 }]),
      );
    }
  });

  it('gives back a connection that was lost while a transaction began', async () => {
    const pool = await nativePool(orm);
    await Promise.all(
      Array.from({ length: POOL_SIZE }, () => orm.em.fork().execute('select pg_sleep(0.05)')),
    );
    const backends = (await orm.em
      .fork()
      .execute(
        "select pid from pg_stat_activity where application_name = 'opsgraph' and pid <> pg_backend_pid()",
      )) as { pid: number }[];
    expect(backends).toHaveLength(POOL_SIZE - 1);
    // Frozen, they take the statement and never answer it.
    for (const { pid } of backends) process.kill(pid, 'SIGSTOP');
    const ended = [failure(orm.em.fork().execute('select pg_sleep(20)'))];
    await eventually(() => pool.idleCount === POOL_SIZE - 1);
    ended.push(...backends.map(() => failure(orm.em.fork().begin())));
    await eventually(() => pool.idleCount === 0);
    process.kill(postmaster.pid, 'SIGKILL');
    for (const { pid } of backends) process.kill(pid, 'SIGKILL');
    for (const error of await Promise.all(ended)) expect(isDatabaseAway(error)).toBe(true);
    await bootAgain();
    expect(await Promise.all(Array.from({ length: POOL_SIZE }, ask))).toEqual(
      Array(POOL_SIZE).fill([{ one: 1 }]),
    );
  });

  it('answers as away for a statement that is under way when the server is killed', async () => {
    const running = failure(orm.em.fork().execute('select pg_sleep(20)'));
    await eventually(async () => {
      const [row] = await orm.em
        .fork()
        .execute(
          "select count(*)::int as n from pg_stat_activity where query like '%pg_sleep(20)%' and pid <> pg_backend_pid()",
        );
      return row?.n === 1;
    });
    process.kill(postmaster.pid, 'SIGKILL');
    expect(isDatabaseAway(await running)).toBe(true);
    await postmaster.exited;
    await bootAgain();
    expect(await ask()).toEqual([{ one: 1 }]);
  });

  it('answers as away when no connection is free in time', async () => {
    const narrow = await createOrm({ databaseUrl: String(orm.config.get('clientUrl')), poolSize: 1 });
    try {
      const holder = narrow.em.fork();
      await holder.begin();
      const waiting = failure(narrow.em.fork().execute('select 1'));
      expect(isDatabaseAway(await waiting)).toBe(true);
      await holder.rollback();
      expect(await narrow.em.fork().execute('select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      await narrow.close(true);
    }
  });

  it('answers as away when something listens that never speaks', async () => {
    const silent = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const address = silent.address();
    if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port');
    const lost = await createOrm({ databaseUrl: `postgres://a:b@127.0.0.1:${address.port}/c`, poolSize: 2 });
    try {
      expect(isDatabaseAway(await failure(lost.em.fork().execute('select 1')))).toBe(true);
    } finally {
      await lost.close(true);
      silent.close();
    }
  });
});
