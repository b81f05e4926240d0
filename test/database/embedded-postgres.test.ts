import { chown, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { eventually } from '../support/eventually.js';
import { EmbeddedServers, killed, killGuardOf, query, serversIn } from './embedded-servers.js';

describe('startEmbeddedPostgres', () => {
  let servers: EmbeddedServers;
  let dataDir: string;

  beforeAll(async () => {
    servers = await EmbeddedServers.create();
    dataDir = await servers.usedDirectory();
  });
  afterEach(() => servers.endTest());
  afterAll(() => servers.close());

  it('finds the data of an earlier start, in a directory with spaces', async () => {
    const server = await servers.start(dataDir);
    expect(await query(server.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('speaks UTF-8 and UTC, and orders text alike on every system', async () => {
    const server = await servers.start(dataDir);
    const [row] = await query(
      server.url,
      `select current_setting('server_encoding') as encoding, current_setting('TimeZone') as zone,
              lower('ÄÖ') as lower, 'a' < 'B' as linguistic`,
    );
    expect(row).toEqual({ encoding: 'UTF8', zone: 'UTC', lower: 'äö', linguistic: false });
  });

  it('lets nobody in without the password, which only its owner may read', async () => {
    const server = await servers.start(dataDir);
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
    const server = await servers.start(dataDir);
    const sentence = `${dataDir} is in use by another server. Stop that one, or set DATA_DIR to another directory.`;
    await expect(servers.start(dataDir)).rejects.toThrow(sentence);
    await expect(servers.hold(dataDir)).rejects.toThrow(sentence);
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('lets one of two simultaneous first starts win', async () => {
    const directory = await servers.freshDirectory();
    const results = await Promise.allSettled([servers.hold(directory), servers.hold(directory)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await serversIn(directory)).toBe(1);
  });

  it('takes over after only the process that started it was killed', async () => {
    const directory = await servers.freshDirectory();
    const holder = await servers.hold(directory);
    await query(holder.url, 'create table kept as select 1 as n');
    await killed(holder.child);
    const server = await servers.start(directory);
    expect(server.pid).not.toBe(holder.pid);
    expect(await serversIn(directory)).toBe(1);
    await query(server.url, 'insert into kept values (2)');
    await expect(query(holder.url, 'select 1')).rejects.toThrow();
  });

  it('takes over a server that its guard could not end either', async () => {
    const directory = await servers.freshDirectory();
    const holder = await servers.hold(directory);
    await query(holder.url, 'create table kept as select 1 as n');
    await killGuardOf(holder.pid);
    await killed(holder.child);
    expect(await query(holder.url, 'select n from kept')).toEqual([{ n: 1 }]);
    const server = await servers.start(directory);
    expect(await serversIn(directory)).toBe(1);
    expect(await query(server.url, 'select n from kept')).toEqual([{ n: 1 }]);
  });

  it('leaves no server behind when the process that started it was killed', async () => {
    const directory = await servers.freshDirectory();
    const holder = await servers.hold(directory);
    const client = new Client({ connectionString: holder.url });
    client.on('error', () => {});
    await client.connect();
    const ended = new Promise((resolve) => client.once('end', resolve));
    await killed(holder.child);
    await ended;
    await expect(query(holder.url, 'select 1')).rejects.toThrow();
  });

  it('recovers what was committed after everything was killed', async () => {
    const directory = await servers.freshDirectory();
    const holder = await servers.hold(directory);
    await query(holder.url, 'create table kept as select generate_series(1, 1000) as n');
    const client = new Client({ connectionString: holder.url });
    client.on('error', () => {});
    await client.connect();
    await client.query('begin');
    await client.query('insert into kept values (1001)');
    await killed(holder.child);
    process.kill(holder.pid, 'SIGKILL');
    const server = await servers.start(directory);
    expect(await query(server.url, 'select count(*)::int as n from kept')).toEqual([{ n: 1000 }]);
  });

  it('starts although the number in postmaster.pid now belongs to somebody else', async () => {
    const file = path.join(dataDir, 'postgres', 'postmaster.pid');
    await writeFile(file, `${process.pid}\n${path.dirname(file)}\n1700000000\n5432\n\n127.0.0.1\n\n`);
    const { uid, gid } = await stat(path.dirname(file));
    await chown(file, uid, gid);
    const server = await servers.start(dataDir);
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('begins anew after a first start that was interrupted', async () => {
    const directory = await servers.freshDirectory();
    await mkdir(path.join(directory, 'postgres.draft', 'base'), { recursive: true });
    await writeFile(path.join(directory, 'postgres.password'), 'of the first attempt\n', { mode: 0o600 });
    const server = await servers.start(directory);
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await readdir(directory)).toEqual(['postgres', 'postgres.lock', 'postgres.password']);
  });

  it('starts the server again under the same address when it dies', async () => {
    const server = await servers.start(dataDir);
    const before = server.pid;
    const client = new Client({ connectionString: server.url });
    client.on('error', () => {});
    await client.connect();
    const lost = new Promise((resolve) => client.once('end', resolve));
    process.kill(before, 'SIGKILL');
    await lost;
    await eventually(() => server.pid !== before);
    expect(await query(server.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(await serversIn(dataDir)).toBe(1);
  });

  it('names both versions when the data folder was written by another one', async () => {
    const file = path.join(dataDir, 'postgres', 'PG_VERSION');
    const original = await readFile(file);
    await writeFile(file, '17\n');
    await expect(servers.start(dataDir)).rejects.toThrow(
      /was written by PostgreSQL 17, and this .* brings PostgreSQL 18/,
    );
    await writeFile(file, original);
  });

  it('says so when the password file is gone', async () => {
    const file = path.join(dataDir, 'postgres.password');
    await rename(file, `${file}.away`);
    await expect(servers.start(dataDir)).rejects.toThrow(/postgres\.password is missing/);
    await rename(`${file}.away`, file);
  });

  it('leaves nothing running after close, and the directory free for the next', async () => {
    const server = await servers.start(dataDir);
    expect(await serversIn(dataDir)).toBe(1);
    await server.close();
    expect(await serversIn(dataDir)).toBe(0);
    await expect(query(server.url, 'select 1')).rejects.toThrow(/ECONNREFUSED/);
    await (await servers.start(dataDir)).close();
  });
});
