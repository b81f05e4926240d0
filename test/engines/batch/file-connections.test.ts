import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { FileSourceSpec, FileTargetSpec } from '../../../src/engines/task-spec.js';
import { type S3Fixture, startS3 } from '../../support/s3.js';
import { type EngineFixture, execute, openEngine, query, readParquet, sql } from './engine-fixture.js';

let engine: EngineFixture;
let s3: S3Fixture;
let number = 0;

beforeAll(async () => {
  s3 = await startS3();
  engine = await openEngine();
  engine.connections.set('lake', s3.target);
  engine.connections.set('private', { ...s3.target, allowPrivate: false });
  engine.connections.set('named', {
    ...s3.target,
    endpoint: s3.target.endpoint?.replace('http://127.0.0.1', 'https://localhost') ?? '',
    allowPrivate: false,
  });
  engine.connections.set('wrong', { ...s3.target, accessKeyId: 'other' });
  engine.connections.set('local', { type: 'file', storage: 'local', root: join(engine.files, 'root') });
  await mkdir(join(engine.files, 'root'));
  await engine.run('rows', sql("SELECT i AS id, 'row ' || i AS name FROM range(3) t(i)"));
});
afterAll(async () => {
  await engine?.close();
  await s3?.close();
});
beforeEach(() => {
  s3.objects.clear();
  s3.requests.length = 0;
  s3.fail.current = undefined;
});

const source = (path: string, more: Partial<FileSourceSpec> = {}): FileSourceSpec => ({
  kind: 'source',
  type: 'file',
  connection: 'lake',
  path,
  format: 'csv',
  ...more,
});
const target = (path: string, more: Partial<FileTargetSpec> = {}): FileTargetSpec => ({
  kind: 'target',
  type: 'file',
  connection: 'lake',
  path,
  format: 'csv',
  mode: 'OVERWRITE',
  ...more,
});
const read = async (spec: FileSourceSpec) =>
  readParquet((await engine.run(`f${++number}`, spec)).output ?? '');
const write = (spec: FileTargetSpec, input = 'rows') => engine.run(`t${++number}`, spec, [input]);
const CSV = 'id,name\n0,row 0\n1,row 1\n2,row 2\n';

describe('files of an S3-compatible store', () => {
  it('are read one by one, and all of a directory over several pages', async () => {
    for (const n of [1, 2, 3, 4, 5]) s3.objects.set(`base/dir/in/${n}.csv`, Buffer.from(`id\n${n}\n`));
    s3.objects.set('base/dir/in/deeper/9.csv', Buffer.from('id\n9\n'));
    s3.objects.set('base/dir/in/read.me', Buffer.from('x'));
    s3.objects.set('base/dir/input.csv', Buffer.from('id\n8\n'));
    expect((await read(source('in/3.csv'))).map(({ id }) => id)).toEqual(['3']);
    expect((await read(source('in/'))).map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
    const names = await readdir(engine.options.runDirectory);
    expect(names.filter((name) => !name.endsWith('.parquet') && !name.startsWith('.'))).toEqual([]);
  });

  it('are written as one object, or as a part named by run and task', async () => {
    const outcome = await write(target('out/a.csv'));
    expect(outcome).toMatchObject({ rows: 3, bytes: CSV.length, output: 's3://lake/base/dir/out/a.csv' });
    expect(s3.objects.get('base/dir/out/a.csv')?.toString()).toBe(CSV);
    await write(target('parts', { mode: 'APPEND', format: 'parquet' }));
    await write(target('parts', { mode: 'APPEND', format: 'parquet' }));
    expect([...s3.objects.keys()].filter((key) => key.includes('/parts/'))).toEqual([
      `base/dir/parts/run-1-t${number - 1}.parquet`,
      `base/dir/parts/run-1-t${number}.parquet`,
    ]);
    expect(await read(source('parts', { format: 'parquet' }))).toHaveLength(6);
  });

  it('are compressed and delimited as their ending says, and read so', async () => {
    await write(target('out/a.tsv.gz'));
    const text = gunzipSync(s3.objects.get('base/dir/out/a.tsv.gz') ?? '').toString();
    expect(text).toBe(CSV.replaceAll(',', '\t'));
    expect((await read(source('out/a.tsv.gz'))).map(({ name }) => name)).toEqual(['row 0', 'row 1', 'row 2']);
  });

  it('are not written by two targets', async () => {
    const tasks = ['out/a.csv', 'out//a.csv'].map((path, index) => ({
      id: `s${index}`,
      inputs: ['rows'],
      spec: target(path),
    }));
    const session = await engine.open({ tasks });
    for (const task of tasks)
      await expect(execute(session, task)).rejects.toMatchObject({
        kind: 'TARGET',
        message: expect.stringMatching(/is the file of the target s[01] too/),
      });
    expect(s3.objects.size).toBe(0);
  });

  it('are seen only when they are whole, in parts when they are large', async () => {
    await engine.run(
      'large',
      sql('SELECT i AS id, md5(i::VARCHAR) || md5((i + 1)::VARCHAR) AS h FROM range(300000) t(i)'),
    );
    s3.objects.set('base/dir/big.csv', Buffer.from('old'));
    s3.fail.current = (request, response) => {
      if (!request.includes('partNumber=2')) return false;
      response.writeHead(403).end();
      return true;
    };
    await expect(write(target('big.csv'), 'large')).rejects.toMatchObject({ kind: 'CONNECTION' });
    expect(s3.objects.get('base/dir/big.csv')?.toString()).toBe('old');
    expect(s3.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(1);
    s3.fail.current = undefined;
    const { bytes } = await write(target('big.csv'), 'large');
    expect(s3.objects.get('base/dir/big.csv')).toHaveLength(bytes ?? 0);
    expect(
      await query(`SELECT count(*) AS n FROM '${(await engine.run('again', source('big.csv'))).output}'`),
    ).toEqual([{ n: '300000' }]);
  });

  it.each([
    ['nosuch.csv', 'lake', 'SOURCE', /no file "nosuch.csv"/],
    ['../../other/a.csv', 'lake', 'SOURCE', /outside the connection's prefix/],
    ['a.csv', 'private', 'CONNECTION', /may not be reached/],
    ['a.csv', 'named', 'CONNECTION', /may not be reached/],
    ['a.csv', 'wrong', 'CONNECTION', /InvalidAccessKeyId/],
  ] as const)('%s of %s fails as %s', async (path, connection, kind, message) => {
    await expect(read(source(path, { connection }))).rejects.toMatchObject({
      kind,
      transient: false,
      message: expect.stringMatching(message),
    });
  });

  it('fail as DISK_FULL beyond the disk a run may use', async () => {
    s3.objects.set('base/dir/a.csv', Buffer.alloc(1_000_001, '1'));
    const small = await engine.open({ spillLimitMb: 1 });
    const failing = execute(small, { id: 'small', inputs: [], spec: source('a.csv') });
    await expect(failing).rejects.toMatchObject({ kind: 'DISK_FULL', transient: false });
  });

  it('fail for now when the store does, and at once when cancelled', async () => {
    s3.fail.current = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    await expect(read(source('a.csv'))).rejects.toMatchObject({ kind: 'CONNECTION', transient: true });
    const controller = new AbortController();
    s3.fail.current = () => {
      controller.abort();
      return true;
    };
    await expect(engine.run('hanging', source('a.csv'), [], controller.signal)).rejects.toMatchObject({
      kind: 'CANCELLED',
    });
  });
});

describe('files of a local connection', () => {
  it('start at its root and stay below it', async () => {
    const local = { connection: 'local' };
    expect(await write(target('sub/a.csv', local))).toMatchObject({
      rows: 3,
      output: join(engine.files, 'root/sub/a.csv'),
      columns: [{ name: 'id' }, { name: 'name' }],
    });
    expect(await readFile(join(engine.files, 'root/sub/a.csv'), 'utf8')).toBe(CSV);
    expect(await read(source('sub/a.csv', local))).toHaveLength(3);
    await writeFile(join(engine.files, 'outside.csv'), 'id\n1\n');
    await symlink(join(engine.files, 'outside.csv'), join(engine.files, 'root/link.csv'));
    for (const path of ['../outside.csv', 'link.csv', join(engine.files, 'outside.csv')]) {
      await expect(read(source(path, local))).rejects.toMatchObject({ kind: 'SOURCE' });
    }
    await expect(write(target('../x.csv', local))).rejects.toMatchObject({ kind: 'TARGET' });
  });
});

describe('an incremental file source', () => {
  it('keeps the rows beyond the watermark', async () => {
    await writeFile(
      join(engine.files, 'log.csv'),
      'n,at\n1,2024-01-01 00:00:00\n2,2024-01-02 00:00:00\n3,\n',
    );
    const spec = source('log.csv', { incremental: { column: 'at' } });
    delete spec.connection;
    const all = await engine.execute({ id: 'all', inputs: [], spec });
    expect(all).toMatchObject({ rows: 3, watermark: '2024-01-02 00:00:00' });
    const later = await engine.execute(
      { id: 'later', inputs: [], spec },
      { watermark: '2024-01-01 00:00:00' },
    );
    expect(await readParquet(later.output ?? '')).toMatchObject([{ n: '2' }]);
  });
});

describe('a quarantine', () => {
  const columns = { id: 'INTEGER', n: 'INTEGER' };
  const bad = (maxShare: number, more: Partial<FileSourceSpec> = {}) => {
    const spec = source('bad', { columns, quarantine: { maxShare }, ...more });
    delete spec.connection;
    return spec;
  };
  beforeAll(async () => {
    await mkdir(join(engine.files, 'bad'));
    await writeFile(join(engine.files, 'bad/1.csv'), 'id,name,n\n1,"a\nb",5\nx,"say ""hi""",y\n3,c,7\n4,d\n');
    await writeFile(join(engine.files, 'bad/2.csv'), 'n,id\n1,2\n8,z\n');
  });

  it('sets rows aside with their place and reason, and keeps the others', async () => {
    const outcome = await engine.run('kept', bad(0.5));
    expect(outcome.rows).toBe(3);
    expect(outcome.healing).toEqual([
      {
        strategy: 'QUARANTINE',
        reason: expect.stringMatching(
          /^3 of 6 rows were set aside in quarantine\/run-1\/kept\.csv: values of id, n /,
        ),
      },
    ]);
    const path = join(engine.files, 'quarantine/run-1/kept.csv');
    expect(await query(`SELECT file, row, "column", raw FROM read_csv('${path}')`)).toEqual([
      { file: '1.csv', row: '2', column: 'id', raw: 'x,"say ""hi""",y' },
      { file: '1.csv', row: '2', column: 'n', raw: 'x,"say ""hi""",y' },
      { file: '1.csv', row: '4', column: 'n', raw: '4,d' },
      { file: '2.csv', row: '2', column: 'id', raw: '8,z' },
    ]);
    expect(await readParquet(outcome.output ?? '')).toEqual([
      { id: 1, name: 'a\nb', n: 5 },
      { id: 3, name: 'c', n: 7 },
      { id: 2, name: null, n: 1 },
    ]);
    const later = await engine.execute(
      { id: 'later-kept', inputs: [], spec: bad(0.5, { incremental: { column: 'id' } }) },
      { watermark: '2' },
    );
    expect(later).toMatchObject({
      rows: 1,
      watermark: '3',
      healing: [{ reason: expect.stringMatching(/^3 of 6/) }],
    });
  });

  it('fails the task above its share, and leaves nothing', async () => {
    await expect(engine.run('failed', bad(0.49))).rejects.toMatchObject({
      kind: 'SOURCE',
      transient: false,
      message: expect.stringMatching(/^3 of 6 rows \(50 %\).*49 %.*first: 1\.csv, row 2, .*"id"/s),
    });
    expect(await readdir(engine.options.runDirectory)).not.toContain('failed.parquet');
  });
});
