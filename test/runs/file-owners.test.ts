import { mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { claimFile, forgetGoneFiles, mayRead } from '../../src/engines/file-owners.js';
import { type Call, caller } from '../support/rest.js';
import { openRunHouse, type RunHouse } from './run-house.js';
import { watch } from './watched-run.js';

let house: RunHouse;
let globex: Call;
let globexCredential: Record<string, string>;
let files: string;

beforeAll(async () => {
  house = await openRunHouse();
  globexCredential = await house.app.platform('demo-globex-engineer');
  globex = caller(house.app.url, globexCredential);
  files = path.join(house.app.dataDir, 'files');
  await mkdir(path.join(files, 'shared'), { recursive: true });
  await writeFile(path.join(files, 'shared/operator.csv'), 'x\n1\n');
});

afterAll(() => house.close());

const pipeline = (source: string, target: string) => `
apiVersion: v1
name: files
source: { id: s, ${source} }
target: { id: t, ${target} }
`;
const rows = 'type: inline, rows: [{ x: 7 }]';
const file = (where: string, more = '') => `type: file, path: "${where}"${more}`;

async function run(call: Call, yamlDefinition: string) {
  const made = await call('POST', '/api/v1/pipelines', { name: 'files', yamlDefinition });
  const { body } = await call('POST', `/api/v1/pipelines/${made.body.id}/run`);
  const credential = call === globex ? globexCredential : await house.app.platform('demo-engineer');
  await watch(house.app.url, body.runId, { after: 0, credential }).closed;
  return (await call('GET', `/api/v1/runs/${body.runId}`)).body;
}

describe("a file that a workspace's run wrote", () => {
  beforeAll(async () => {
    for (const where of ['shared/acme.csv', 'shared/acme.parquet'])
      expect(await run(house.engineer, pipeline(rows, file(where, ', mode: OVERWRITE')))).toMatchObject({
        overallStatus: 'COMPLETED',
      });
    expect(
      await run(house.engineer, pipeline(rows, file('parts', ', format: csv, mode: APPEND'))),
    ).toMatchObject({
      overallStatus: 'COMPLETED',
    });
    await symlink(path.join(files, 'shared/acme.csv'), path.join(files, 'innocent.csv'));
  });

  it.each([
    ['its path', () => file('shared/acme.csv')],
    ['its format', () => file('shared/acme.parquet')],
    ['a link', () => file('innocent.csv')],
    ['an absolute path', () => file(path.join(files, 'shared/acme.csv'))],
    ['the directory of its parts', () => file('parts', ', format: csv')],
  ])('is not read by another through %s', async (_, source) => {
    const outcome = await run(globex, pipeline(source(), file('globex-out.csv', ', mode: OVERWRITE')));
    expect(outcome.overallStatus).toBe('FAILED');
    expect(outcome.error).toMatch(
      /There is no file .* that this workspace may read|has no file of the source's format/,
    );
  });

  it('is left out where another reads a directory, and is there for its own', async () => {
    const source = file('shared', ', format: csv');
    const theirs = await run(globex, pipeline(source, file('globex-all.csv', ', mode: OVERWRITE')));
    expect(theirs).toMatchObject({ overallStatus: 'COMPLETED', rowsRead: 1 });
    expect(await readFile(path.join(files, 'globex-all.csv'), 'utf8')).toBe('x\n1\n');
    const own = await run(house.engineer, pipeline(source, file('acme-all.csv', ', mode: OVERWRITE')));
    expect(own).toMatchObject({ overallStatus: 'COMPLETED', rowsRead: 2 });
  });

  it('is not replaced by another, and is by its own', async () => {
    const target = file('shared/acme.csv', ', mode: OVERWRITE');
    const theirs = await run(globex, pipeline('type: inline, rows: [{ x: 666 }]', target));
    expect(theirs).toMatchObject({
      overallStatus: 'FAILED',
      error: expect.stringContaining('is not a file that this workspace may write'),
    });
    expect(await readFile(path.join(files, 'shared/acme.csv'), 'utf8')).toBe('x\n7\n');
    const own = await run(house.engineer, pipeline('type: inline, rows: [{ x: 8 }]', target));
    expect(own.overallStatus).toBe('COMPLETED');
    expect(await readFile(path.join(files, 'shared/acme.csv'), 'utf8')).toBe('x\n8\n');
  });

  it("is to others the same as a directory of another's parts, or a part of a path", async () => {
    const write = async (call: Call, where: string, mode: string) =>
      (await run(call, pipeline(rows, file(where, `, format: csv, mode: ${mode}`)))).error.replace(
        where,
        'PATH',
      );
    const refusal = expect.stringContaining('"PATH" is not a file that this workspace may write');
    const told = await write(globex, 'shared/acme.csv', 'OVERWRITE');
    expect(told).toEqual(refusal);
    expect(await write(globex, 'parts', 'OVERWRITE')).toBe(told);
    expect(await write(globex, 'shared/acme.csv', 'APPEND')).toBe(told);
    expect(await write(house.engineer, 'shared/acme.csv', 'APPEND')).toMatch('"PATH" is a file;');
    for (const below of ['shared/acme.csv/x.csv', 'shared/acme.csv/y/x.csv'])
      expect(await write(globex, below, 'OVERWRITE')).toBe('t: The directory of "PATH" cannot be made.');
  });

  it("is not seen through another's connection to the same directory", async () => {
    const connect = async (call: Call) => {
      const { body } = await call('POST', '/api/v1/connections', {
        name: 'here',
        type: 'file',
        config: { storage: 'local', root: files },
      });
      const schema = await call('GET', `/api/v1/connections/${body.id}/schema`);
      return schema.body.tables.map(({ name }: { name: string }) => name);
    };
    expect(await connect(house.engineer)).toEqual(
      expect.arrayContaining(['shared/acme.csv', 'shared/operator.csv']),
    );
    const seen = await connect(globex);
    expect(seen).toContain('shared/operator.csv');
    expect(seen.filter((name: string) => name.includes('acme') || name.startsWith('parts'))).toEqual([]);
    const outcome = await run(
      globex,
      pipeline(file('shared/acme.csv', ', connection: here'), file('globex-out.csv', ', mode: OVERWRITE')),
    );
    expect(outcome).toMatchObject({ overallStatus: 'FAILED', error: expect.stringContaining('may read') });
  });

  it('may hold rows that were set aside, which are as little for others', async () => {
    await writeFile(path.join(files, 'dirty.csv'), 'x\n1\nsecret\n');
    const source = file('dirty.csv', ', columns: { x: INTEGER }, quarantine: { maxShare: 0.9 }');
    const { runId, healing } = await run(
      house.engineer,
      pipeline(source, file('clean.csv', ', mode: OVERWRITE')),
    );
    expect(healing).toMatchObject([{ strategy: 'QUARANTINE' }]);
    const aside = `quarantine/${runId}/s.csv`;
    expect(await readFile(path.join(files, aside), 'utf8')).toContain('secret');
    const theirs = await run(globex, pipeline(file(aside), file('stolen.csv', ', mode: OVERWRITE')));
    expect(theirs.overallStatus).toBe('FAILED');
    const own = await run(house.engineer, pipeline(file(aside), file('mended.csv', ', mode: OVERWRITE')));
    expect(own.overallStatus).toBe('COMPLETED');
  });
});

describe('a file that the operator put there', () => {
  it('is read by all, and replaced by nobody, in no directory that definitions may name', async () => {
    await mkdir(path.join(files, 'given'));
    await writeFile(path.join(files, 'given/rates.csv'), 'x\n3\n');
    for (const call of [house.engineer, globex]) {
      const own = call === globex ? 'globex' : 'acme';
      const source = file('given/rates.csv');
      const copied = await run(call, pipeline(source, file(`${own}-rates.csv`, ', mode: OVERWRITE')));
      expect(copied).toMatchObject({ overallStatus: 'COMPLETED', rowsRead: 1 });
      for (const where of ['given/rates.csv', path.join(files, 'given/rates.csv')]) {
        const replaced = await run(call, pipeline(rows, file(where, ', mode: OVERWRITE')));
        expect(replaced).toMatchObject({
          overallStatus: 'FAILED',
          error: expect.stringContaining('is not a file that this workspace may write'),
        });
      }
    }
    expect(await readFile(path.join(files, 'given/rates.csv'), 'utf8')).toBe('x\n3\n');
  });
});

describe('the notes of whose a file is', () => {
  it('go with the directory that they and the files are in', async () => {
    const before = path.join(house.app.dataDir, 'before');
    await mkdir(path.join(before, 'files'), { recursive: true });
    const owners = (home: string, workspaceId: string) => ({
      directory: path.join(home, 'file-owners'),
      workspaceId,
    });
    const written = path.join(before, 'files/a.csv');
    expect(await claimFile(owners(before, 'own'), written)).toBe(true);
    await writeFile(written, '');
    const after = path.join(house.app.dataDir, 'after');
    await rename(before, after);
    const moved = path.join(after, 'files/a.csv');
    expect(await mayRead(owners(after, 'other'), moved)).toBe(false);
    expect(await claimFile(owners(after, 'own'), moved)).toBe(true);
  });

  it('go to the first of two that want it, and are forgotten when the file has long been gone', async () => {
    const directory = path.join(house.app.dataDir, 'notes');
    const wanted = path.join(files, 'wanted.csv');
    const workspaces = Array.from({ length: 8 }, (_, n) => ({ directory, workspaceId: `w${n}` }));
    const claims = await Promise.all(workspaces.map((owners) => claimFile(owners, wanted)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    const first = workspaces[claims.indexOf(true)];
    const other = workspaces[(claims.indexOf(true) + 1) % 8];
    expect([await mayRead(first, wanted), await mayRead(other, wanted)]).toEqual([true, false]);
    expect([await claimFile(first, wanted), await claimFile(other, wanted)]).toEqual([true, false]);
    const [note = ''] = await readdir(directory);
    expect(await forgetGoneFiles(directory, new Date())).toBe(0);
    await utimes(path.join(directory, note), new Date(0), new Date(0));
    await writeFile(wanted, '');
    expect(await forgetGoneFiles(directory, new Date())).toBe(0);
    await rm(wanted);
    expect(await forgetGoneFiles(directory, new Date())).toBe(1);
    expect(await claimFile(other, wanted)).toBe(true);
    expect(await readdir(directory)).toEqual([note]);
  });

  it('are renewed by who is about to write the file again, and leave nothing of a process that was killed', async () => {
    const directory = path.join(house.app.dataDir, 'more-notes');
    const owners = { directory, workspaceId: 'w' };
    const wanted = path.join(files, 'wanted-again.csv');
    expect(await claimFile(owners, wanted)).toBe(true);
    const [note = ''] = await readdir(directory);
    await utimes(path.join(directory, note), new Date(0), new Date(0));
    await writeFile(path.join(directory, `${note}.1.2`), '{');
    await utimes(path.join(directory, `${note}.1.2`), new Date(0), new Date(0));
    expect(await claimFile(owners, wanted)).toBe(true);
    expect(await forgetGoneFiles(directory, new Date())).toBe(1);
    expect(await readdir(directory)).toEqual([note]);
    await writeFile(wanted, '');
    expect(await claimFile(owners, wanted)).toBe(true);
  });
});
