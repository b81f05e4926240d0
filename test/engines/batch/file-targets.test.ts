import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FileTargetSpec } from '../../../src/engines/task-spec.js';
import { type EngineFixture, execute, inline, openEngine, readParquet, sql } from './engine-fixture.js';

let engine: EngineFixture;
beforeAll(async () => {
  engine = await openEngine();
  await engine.run(
    'rows',
    inline([
      { id: 1, name: 'a "b",c' },
      { id: 2, name: null },
    ]),
  );
});
afterAll(() => engine.close());

const target = (path: string, format: FileTargetSpec['format'], mode: FileTargetSpec['mode'] = 'OVERWRITE') =>
  ({ kind: 'target', type: 'file', path, format, mode }) as const;

const plain = (bytes: Buffer) => bytes;

describe('file targets with OVERWRITE', () => {
  it('write CSV, NDJSON and Parquet', async () => {
    const csv = await engine.run('t1', target('out/new/a.csv', 'csv'), ['rows']);
    expect(await readFile(join(engine.files, 'out/new/a.csv'), 'utf8')).toBe('id,name\n1,"a ""b"",c"\n2,\n');
    expect(csv).toMatchObject({ rows: 2, bytes: 25, output: join(engine.files, 'out/new/a.csv') });
    await engine.run('t2', target('a.ndjson', 'ndjson'), ['rows']);
    expect(
      (await readFile(join(engine.files, 'a.ndjson'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { id: 1, name: 'a "b",c' },
      { id: 2, name: null },
    ]);
    await engine.run('t3', target(join(engine.files, 'a.parquet'), 'parquet'), ['rows']);
    expect(await readParquet(join(engine.files, 'a.parquet'))).toEqual([
      { id: '1', name: 'a "b",c' },
      { id: '2', name: null },
    ]);
  });

  it.each([
    ['z/a.csv.gz', 'csv', gunzipSync, 'id,name'],
    ['z/a.csv.zst', 'csv', zstdDecompressSync, 'id,name'],
    ['z/a.tsv', 'csv', plain, 'id\tname'],
    ['z/a.TSV.GZ', 'csv', gunzipSync, 'id\tname'],
    ['z/a.ndjson.gz', 'ndjson', gunzipSync, '{"id":1,"name":"a \\"b\\",c"}'],
    ['z/a.jsonl.zst', 'ndjson', zstdDecompressSync, '{"id":1,"name":"a \\"b\\",c"}'],
  ] as const)(
    'write %s as its ending says, and it can be read again',
    async (path, format, unpack, first) => {
      await engine.run(`w-${path.slice(2)}`, target(path, format), ['rows']);
      const text = unpack(await readFile(join(engine.files, path))).toString();
      expect(text.split('\n')[0]).toBe(first);
      const source = { kind: 'source', type: 'file', path, format } as const;
      const { output = '' } = await engine.run(`r-${path.slice(2)}`, source);
      expect(await readParquet(output)).toEqual([
        { id: '1', name: 'a "b",c' },
        { id: '2', name: null },
      ]);
    },
  );

  it('keep the order of the input', async () => {
    await engine.run('sorted', sql('SELECT i FROM range(200000) t(i) ORDER BY i DESC'));
    await engine.run('t4', target('sorted.csv', 'csv'), ['sorted']);
    const lines = (await readFile(join(engine.files, 'sorted.csv'), 'utf8'))
      .trim()
      .split('\n')
      .slice(1)
      .map(Number);
    expect(lines).toHaveLength(200_000);
    expect(lines.every((value, index) => value === 199_999 - index)).toBe(true);
  });

  it('replace a file in one step and leave nothing beside it', async () => {
    await mkdir(join(engine.files, 'one'));
    await writeFile(join(engine.files, 'one', 'r.csv'), 'old');
    const before = await stat(join(engine.files, 'one', 'r.csv'));
    await engine.run('t5', target('one/r.csv', 'csv'), ['rows']);
    expect((await stat(join(engine.files, 'one', 'r.csv'))).ino).not.toBe(before.ino);
    expect(await readdir(join(engine.files, 'one'))).toEqual(['r.csv']);
  });

  it('leave the old file when they fail or are cancelled', async () => {
    await mkdir(join(engine.files, 'kept'));
    await writeFile(join(engine.files, 'kept', 'r.csv'), 'old');
    await expect(engine.run('t6', target('kept/r.csv', 'csv'), ['nosuch'])).rejects.toMatchObject({
      kind: 'TARGET',
    });
    await engine.run('big', sql('SELECT i, hash(i) AS h FROM range(20000000) t(i)'));
    const controller = new AbortController();
    const cancelled = engine.run('t7', target('kept/r.csv', 'csv'), ['big'], controller.signal);
    setTimeout(() => controller.abort(), 100);
    await expect(cancelled).rejects.toMatchObject({ kind: 'CANCELLED' });
    expect(await readFile(join(engine.files, 'kept', 'r.csv'), 'utf8')).toBe('old');
    expect(await readdir(join(engine.files, 'kept'))).toEqual(['r.csv']);
  });
});

describe('two file targets of one definition on one file', () => {
  const sessionOf = (...targets: readonly [string, FileTargetSpec][]) =>
    engine.open({ tasks: targets.map(([id, spec]) => ({ id, inputs: ['rows'], spec })) });

  it.each([
    ['the same path', 'twice/a.csv', {}],
    ['another spelling', 'twice/b/../a.csv', {}],
    ['a link', 'linked/a.csv', {}],
    ['an absolute path', 'ABSOLUTE', {}],
    ['the root of a connection', 'a.csv', { connection: 'root' }],
  ] as const)('are refused, be it by %s, before they write', async (_, path, more) => {
    await mkdir(join(engine.files, 'twice'), { recursive: true });
    await rm(join(engine.files, 'linked'), { force: true });
    await symlink(join(engine.files, 'twice'), join(engine.files, 'linked'));
    const root = join(engine.files, 'twice');
    engine.connections.set('root', { type: 'file', storage: 'local', root });
    const spelled = path === 'ABSOLUTE' ? join(root, 'a.csv') : path;
    const first = target('twice/a.csv', 'csv');
    const second = { ...target(spelled, 'csv'), ...more };
    const session = await sessionOf(['one', first], ['two', second]);
    await expect(execute(session, { id: 'two', inputs: ['rows'], spec: second })).rejects.toMatchObject({
      kind: 'TARGET',
      transient: false,
      message: `"${path === 'ABSOLUTE' ? 'twice/a.csv' : path}" is the file of the target one too: each needs its own.`,
    });
    expect(await readdir(root)).toEqual([]);
  });

  it('are not taken for one when they are two, or add parts', async () => {
    const others = ['csv', 'ndjson'].map((name) => [name, target(`two/a.${name}`, 'csv')] as const);
    const parts = target('two/parts', 'csv', 'APPEND');
    const session = await sessionOf(
      ...others.map(([id, spec]): [string, FileTargetSpec] => [id, spec]),
      ['p', parts],
      ['q', parts],
    );
    for (const [id, spec] of [...others, ['p', parts] as const, ['q', parts] as const])
      await execute(session, { id, inputs: ['rows'], spec });
    expect(await readdir(join(engine.files, 'two'))).toEqual(['a.csv', 'a.ndjson', 'parts']);
  });
});

describe('file targets with APPEND', () => {
  it('add one part per run and task, however often the task is repeated', async () => {
    await engine.run('p', target('parts', 'parquet', 'APPEND'), ['rows']);
    await engine.run('p', target('parts', 'parquet', 'APPEND'), ['rows']);
    const second = await engine.open({ runId: 'run-2' });
    await execute(second, { id: 'p', inputs: ['rows'], spec: target('parts', 'parquet', 'APPEND') });
    expect((await readdir(join(engine.files, 'parts'))).sort()).toEqual([
      'run-1-p.parquet',
      'run-2-p.parquet',
    ]);
    const source = { kind: 'source', type: 'file', path: 'parts', format: 'parquet' } as const;
    expect(await engine.run('again', source)).toMatchObject({ rows: 4 });
  });

  it('and OVERWRITE refuse what the other has made', async () => {
    await engine.run('f', target('plain.csv', 'csv'), ['rows']);
    await expect(engine.run('g', target('plain.csv', 'csv', 'APPEND'), ['rows'])).rejects.toThrow(
      /is a file/,
    );
    await engine.run('h', target('folder', 'csv', 'APPEND'), ['rows']);
    await expect(engine.run('i', target('folder', 'csv'), ['rows'])).rejects.toThrow(/is a directory/);
  });
});

it.each([
  ['leaves the files directory', '../other/x.csv'],
  ['goes through a link', 'away/x.csv'],
  ['is a link itself', 'link.csv'],
  ['is absolute and outside', '/tmp/opsgraph-escape.csv'],
  ['makes directories outside', '../made/x.csv'],
  ['is the root itself', '.'],
])('a target whose path %s is refused', async (_, path) => {
  const other = join(engine.directory, 'other');
  await symlink(other, join(engine.files, 'away')).catch(() => undefined);
  await symlink(join(other, 'x.csv'), join(engine.files, 'link.csv')).catch(() => undefined);
  await expect(engine.run('esc', target(path, 'csv'), ['rows'])).rejects.toMatchObject({
    kind: 'TARGET',
    transient: false,
  });
  expect(await readdir(other)).toEqual([]);
  expect(await readdir(engine.directory)).not.toContain('made');
});
