import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { bundleSource } from '../../scripts/import-source.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded-postgres.js';
import { findPostgresBinaries, reachablePlace } from '../../src/database/postgres-binaries.js';

const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0;
const settings = { fsync: 'off' };

interface Holder {
  child: ChildProcess;
  url: string;
  pid: number;
}

describe('startEmbeddedPostgres', () => {
  let root: string;
  let dataDir: string;
  let holderFile: string;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    holderFile = await bundleSource('test/database/hold-embedded-postgres.ts');
    root = await mkdtemp(path.join(os.tmpdir(), 'opsgraph-embedded-'));
    await chmod(root, 0o755);
    dataDir = await freshDirectory('with two spaces');
    const first = await startEmbeddedPostgres({ dataDir, settings });
    await query(first.url, 'create table kept as select 42 as answer');
    await first.close();
  });
  afterEach(async () => {
    for (const resource of open.splice(0).reverse()) await resource.close();
  });
  afterAll(async () => {
    await rm(root, { recursive: true, force: true });
    await rm(holderFile, { force: true });
  });

  async function freshDirectory(name = 'data'): Promise<string> {
    return path.join(await mkdtemp(path.join(root, 'case-')), name);
  }

  async function start(directory: string): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ dataDir: directory, settings });
    open.push(server);
    return server;
  }

  /** In a process of its own, which may be killed; whatever is left of it goes at the end of the test. */
  async function hold(directory: string, user?: { uid: number; gid: number }): Promise<Holder> {
    const child = fork(holderFile, [directory], { execArgv: [], ...user, stdio: 'inherit' });
    const exited = once(child, 'exit');
    open.push({
      close: async () => {
        child.kill('SIGTERM');
        if (child.exitCode === null && child.signalCode === null) await exited;
      },
    });
    const [answer] = await once(child, 'message');
    if (answer.error !== undefined) throw new Error(answer.error);
    return { child, ...answer };
  }

  async function killed(child: ChildProcess): Promise<void> {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async function killGuardOf(pid: number): Promise<void> {
    for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
      const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
      if (command.includes('kill -INT') && command.endsWith(`\0${pid}\0`))
        process.kill(Number(name), 'SIGKILL');
    }
  }

  async function serversIn(directory: string): Promise<number> {
    const clusterDir = path.join(directory, 'postgres');
    const places = (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map(async (pid) => {
        const [place, command] = await Promise.all([
          readlink(`/proc/${pid}/cwd`).catch(() => ''),
          readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
        ]);
        // Only the postmaster keeps its command line; its children rename themselves.
        return place === clusterDir && command.includes('/bin/postgres');
      });
    return (await Promise.all(places)).filter(Boolean).length;
  }

  it('finds the data of an earlier start, in a directory with spaces', async () => {
    const server = await start(dataDir);
    expect(await query(server.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('speaks UTF-8 and UTC, and orders text alike on every system', async () => {
    const server = await start(dataDir);
    const [row] = await query(
      server.url,
      `select current_setting('server_encoding') as encoding, current_setting('TimeZone') as zone,
              lower('ÄÖ') as lower, 'a' < 'B' as linguistic`,
    );
    expect(row).toEqual({ encoding: 'UTF8', zone: 'UTC', lower: 'äö', linguistic: false });
  });

  it('lets nobody in without the password, which only its owner may read', async () => {
    const server = await start(dataDir);
    const file = path.join(dataDir, 'postgres.password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(new URL(server.url).password).toBe((await readFile(file, 'utf8')).trim());
    const wrong = Object.assign(new URL(server.url), { password: 'guess' }).href;
    await expect(query(wrong, 'select 1')).rejects.toThrow(/password authentication failed/);
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
    expect(await query(server.url, "select current_setting('listen_addresses') as at")).toEqual([
      { at: '127.0.0.1' },
    ]);
  });

  it('refuses a second server over the same directory, in this process and in another', async () => {
    const server = await start(dataDir);
    const sentence = `${dataDir} is in use by another server. Stop that one, or set DATA_DIR to another directory.`;
    await expect(start(dataDir)).rejects.toThrow(sentence);
    await expect(hold(dataDir)).rejects.toThrow(sentence);
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('lets one of two simultaneous first starts win', async () => {
    const directory = await freshDirectory();
    const results = await Promise.allSettled([hold(directory), hold(directory)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await serversIn(directory)).toBe(1);
  });

  it('takes over after only the process that started it was killed', async () => {
    const directory = await freshDirectory();
    const holder = await hold(directory);
    await query(holder.url, 'create table kept as select 1 as n');
    await killed(holder.child);
    const server = await start(directory);
    expect(server.pid).not.toBe(holder.pid);
    expect(await serversIn(directory)).toBe(1);
    await query(server.url, 'insert into kept values (2)');
    await expect(query(holder.url, 'select 1')).rejects.toThrow();
  });

  it('takes over a server that its guard could not end either', async () => {
    const directory = await freshDirectory();
    const holder = await hold(directory);
    await query(holder.url, 'create table kept as select 1 as n');
    await killGuardOf(holder.pid);
    await killed(holder.child);
    expect(await query(holder.url, 'select n from kept')).toEqual([{ n: 1 }]);
    const server = await start(directory);
    expect(await serversIn(directory)).toBe(1);
    expect(await query(server.url, 'select n from kept')).toEqual([{ n: 1 }]);
  });

  it('leaves no server behind when the process that started it was killed', async () => {
    const directory = await freshDirectory();
    const holder = await hold(directory);
    const client = new Client({ connectionString: holder.url });
    client.on('error', () => {});
    await client.connect();
    const ended = new Promise((resolve) => client.once('end', resolve));
    await killed(holder.child);
    await ended;
    await expect(query(holder.url, 'select 1')).rejects.toThrow();
  });

  it('recovers what was committed after everything was killed', async () => {
    const directory = await freshDirectory();
    const holder = await hold(directory);
    await query(holder.url, 'create table kept as select generate_series(1, 1000) as n');
    const client = new Client({ connectionString: holder.url });
    client.on('error', () => {});
    await client.connect();
    await client.query('begin');
    await client.query('insert into kept values (1001)');
    await killed(holder.child);
    process.kill(holder.pid, 'SIGKILL');
    const server = await start(directory);
    expect(await query(server.url, 'select count(*)::int as n from kept')).toEqual([{ n: 1000 }]);
  });

  it('starts although the number in postmaster.pid now belongs to somebody else', async () => {
    const file = path.join(dataDir, 'postgres', 'postmaster.pid');
    await writeFile(file, `${process.pid}\n${path.dirname(file)}\n1700000000\n5432\n\n127.0.0.1\n\n`);
    const { uid, gid } = await stat(path.dirname(file));
    await chown(file, uid, gid);
    const server = await start(dataDir);
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('begins anew after a first start that was interrupted', async () => {
    const directory = await freshDirectory();
    await mkdir(path.join(directory, 'postgres.draft', 'base'), { recursive: true });
    await writeFile(path.join(directory, 'postgres.password'), 'of the first attempt\n', { mode: 0o600 });
    const server = await start(directory);
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await readdir(directory)).toEqual(['postgres', 'postgres.lock', 'postgres.password']);
  });

  it('starts the server again under the same address when it dies', async () => {
    const server = await start(dataDir);
    const before = server.pid;
    const client = new Client({ connectionString: server.url });
    client.on('error', () => {});
    await client.connect();
    const lost = new Promise((resolve) => client.once('end', resolve));
    process.kill(before, 'SIGKILL');
    await lost;
    const deadline = Date.now() + 10_000;
    while (server.pid === before && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await query(server.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(await serversIn(dataDir)).toBe(1);
  });

  it('names both versions when the data folder was written by another one', async () => {
    const file = path.join(dataDir, 'postgres', 'PG_VERSION');
    const original = await readFile(file);
    await writeFile(file, '17\n');
    await expect(start(dataDir)).rejects.toThrow(
      /was written by PostgreSQL 17, and this .* brings PostgreSQL 18/,
    );
    await writeFile(file, original);
  });

  it('says so when the password file is gone', async () => {
    const file = path.join(dataDir, 'postgres.password');
    await rename(file, `${file}.away`);
    await expect(start(dataDir)).rejects.toThrow(/postgres\.password is missing/);
    await rename(`${file}.away`, file);
  });

  it('leaves nothing running after close, and the directory free for the next', async () => {
    const server = await start(dataDir);
    expect(await serversIn(dataDir)).toBe(1);
    await server.close();
    expect(await serversIn(dataDir)).toBe(0);
    await expect(query(server.url, 'select 1')).rejects.toThrow(/ECONNREFUSED/);
    await (await start(dataDir)).close();
  });

  const rootOnly = asRoot ? describe : describe.skip;
  if (!asRoot) process.stdout.write('Not root: what root has to take care of is not tested here.\n');

  rootOnly('as root', () => {
    it('runs the server under another user', async () => {
      const server = await start(dataDir);
      const { uid } = await stat(`/proc/${server.pid}`);
      expect(uid).not.toBe(0);
      expect((await stat(path.join(dataDir, 'postgres'))).uid).toBe(uid);
    });

    it('keeps the data below a directory that only root may enter', async () => {
      const closed = path.dirname(await freshDirectory());
      await chmod(closed, 0o700);
      const directory = path.join(closed, 'of root', 'data');
      const first = await start(directory);
      await query(first.url, 'create table kept as select 7 as n');
      await first.close();
      const second = await start(directory);
      expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
      process.kill(second.pid, 'SIGKILL');
      await second.close();
      const third = await start(directory);
      expect(await query(third.url, 'select n from kept')).toEqual([{ n: 7 }]);
    });

    it('copies the binaries to where that user reaches them, once and only where nobody else could have put them', async () => {
      const place = path.join(path.dirname(await freshDirectory()), 'home');
      await mkdir(place, { mode: 0o700 });
      const { postgres } = await findPostgresBinaries(undefined);
      const native = path.join(place, 'native');
      await cp(path.join(path.dirname(postgres), '..'), native, { recursive: true, verbatimSymlinks: true });
      const version = `test.${process.pid}`;
      const account = { uid: NOBODY, gid: NOBODY };

      const copy = await reachablePlace(native, version, account);
      open.push({ close: () => rm(copy, { recursive: true, force: true }) });
      expect(path.dirname(copy)).toBe(os.tmpdir());
      const run = promisify(execFile)(path.join(copy, 'bin', 'postgres'), ['--version'], account);
      expect((await run).stdout).toMatch(/^postgres \(PostgreSQL\) 18/);
      expect(await reachablePlace(native, version, account)).toBe(copy);
      expect(await reachablePlace(copy, version, account)).toBe(copy);

      await rm(path.join(copy, 'share', 'postgresql', 'postgres.bki'));
      await reachablePlace(native, version, account);
      expect((await stat(path.join(copy, 'share', 'postgresql', 'postgres.bki'))).size).toBeGreaterThan(0);

      await chown(copy, NOBODY, NOBODY);
      await expect(reachablePlace(native, version, account)).rejects.toThrow(/was not made by this user/);
    });

    it('leaves an ordinary user to run its own server, and says whose directory it is otherwise', async () => {
      const directory = await freshDirectory();
      await chown(path.dirname(directory), NOBODY, NOBODY);
      const user = { uid: NOBODY, gid: NOBODY };
      const holder = await hold(directory, user);
      expect((await stat(`/proc/${holder.pid}`)).uid).toBe(NOBODY);
      expect((await stat(path.join(directory, 'postgres.password'))).uid).toBe(NOBODY);
      await query(holder.url, 'create table kept as select 3 as n');
      await killed(holder.child);

      const again = await hold(directory, user);
      expect(await query(again.url, 'select n from kept')).toEqual([{ n: 3 }]);
      await expect(hold(path.dirname(dataDir), user)).rejects.toThrow(/cannot be written by this user/);
    });
  });
});
