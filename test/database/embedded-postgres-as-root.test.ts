import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { findPostgresBinaries, reachablePlace } from '../../src/database/postgres-binaries.js';
import { EmbeddedServers, killed, query } from './embedded-servers.js';

const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0;
if (!asRoot) process.stdout.write('Not root: what root has to take care of is not tested here.\n');

(asRoot ? describe : describe.skip)('startEmbeddedPostgres as root', () => {
  let servers: EmbeddedServers;
  let dataDir: string;

  beforeAll(async () => {
    servers = await EmbeddedServers.create();
    dataDir = await servers.usedDirectory();
  });
  afterEach(() => servers.endTest());
  afterAll(() => servers.close());

  it('runs the server under another user', async () => {
    const server = await servers.start(dataDir);
    const { uid } = await stat(`/proc/${server.pid}`);
    expect(uid).not.toBe(0);
    expect((await stat(path.join(dataDir, 'postgres'))).uid).toBe(uid);
  });

  it('keeps the data below a directory that only root may enter', async () => {
    const closed = path.dirname(await servers.freshDirectory());
    await chmod(closed, 0o700);
    const directory = path.join(closed, 'of root', 'data');
    const first = await servers.start(directory);
    await query(first.url, 'create table kept as select 7 as n');
    await first.close();
    const second = await servers.start(directory);
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
    process.kill(second.pid, 'SIGKILL');
    await second.close();
    const third = await servers.start(directory);
    expect(await query(third.url, 'select n from kept')).toEqual([{ n: 7 }]);
  });

  it('copies the binaries to where that user reaches them, once and only where nobody else could have put them', async () => {
    const place = path.join(path.dirname(await servers.freshDirectory()), 'home');
    await mkdir(place, { mode: 0o700 });
    const { postgres } = await findPostgresBinaries(undefined);
    const native = path.join(place, 'native');
    await cp(path.join(path.dirname(postgres), '..'), native, { recursive: true, verbatimSymlinks: true });
    const version = `test.${process.pid}`;
    const account = { uid: NOBODY, gid: NOBODY };

    const copy = await reachablePlace(native, version, account);
    servers.closeAtTheEnd({ close: () => rm(copy, { recursive: true, force: true }) });
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
    const directory = await servers.freshDirectory();
    await chown(path.dirname(directory), NOBODY, NOBODY);
    const user = { uid: NOBODY, gid: NOBODY };
    const holder = await servers.hold(directory, user);
    expect((await stat(`/proc/${holder.pid}`)).uid).toBe(NOBODY);
    expect((await stat(path.join(directory, 'postgres.password'))).uid).toBe(NOBODY);
    await query(holder.url, 'create table kept as select 3 as n');
    await killed(holder.child);

    const again = await servers.hold(directory, user);
    expect(await query(again.url, 'select n from kept')).toEqual([{ n: 3 }]);
    await expect(servers.hold(path.dirname(dataDir), user)).rejects.toThrow(/cannot be written by this user/);
  });
});
