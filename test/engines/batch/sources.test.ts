import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FileSourceSpec } from '../../../src/engines/task-spec.js';
import { type EngineFixture, inline, openEngine, query, readParquet } from './engine-fixture.js';

let engine: EngineFixture;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const file = (
  path: string,
  format: FileSourceSpec['format'],
  more: Partial<FileSourceSpec> = {},
): FileSourceSpec => ({
  kind: 'source',
  type: 'file',
  path,
  format,
  ...more,
});

const WIDE = Object.fromEntries(Array.from({ length: 200 }, (_, key) => [`c${key}`, key]));
const SPARSE = Array.from({ length: 300 }, (_, id) => ({ id, [`attr_${id}`]: id }));

async function rowsOf(id: string) {
  return readParquet(join(engine.options.runDirectory, `${id}.parquet`));
}

async function typesOf(id: string) {
  const path = join(engine.options.runDirectory, `${id}.parquet`);
  const rows = await query(
    `SELECT column_name n, column_type t FROM (DESCRIBE FROM read_parquet('${path}'))`,
  );
  return Object.fromEntries(rows.map(({ n, t }) => [n, t]));
}

describe('file sources', () => {
  it('reads CSV with recognised types, nulls and quoted line breaks', async () => {
    await writeFile(join(engine.files, 'a.csv'), 'id,day,note\n1,2026-01-02,"two\nlines"\n2,,plain\n');
    const outcome = await engine.run('csv', file('a.csv', 'csv'));
    expect(outcome).toMatchObject({ rows: 2, output: join(engine.options.runDirectory, 'csv.parquet') });
    expect(outcome.bytes).toBeGreaterThan(100);
    expect(await rowsOf('csv')).toEqual([
      { id: '1', day: '2026-01-02', note: 'two\nlines' },
      { id: '2', day: null, note: 'plain' },
    ]);
    expect(await typesOf('csv')).toEqual({ id: 'BIGINT', day: 'DATE', note: 'VARCHAR' });
  });

  it('takes column types and CSV options from the definition', async () => {
    await writeFile(join(engine.files, 'b.txt'), 'id;amount;day\n007;1,50;02.01.2026\n');
    const csv = { delimiter: ';', decimalSeparator: ',', dateFormat: '%d.%m.%Y' };
    const columns = { id: 'VARCHAR', amount: 'DECIMAL(10,2)', day: 'DATE' };
    await engine.run('opts', file('b.txt', 'csv', { csv, columns }));
    expect(await rowsOf('opts')).toEqual([{ id: '007', amount: '1.50', day: '2026-01-02' }]);
  });

  it('reads NDJSON, JSON and Parquet', async () => {
    await writeFile(join(engine.files, 'c.ndjson'), '{"a":1,"b":"x"}\n{"a":2}\n');
    await writeFile(join(engine.files, 'd.json'), '[{"a":1.5},{"a":null}]');
    await query(
      `COPY (SELECT 12.34::DECIMAL(9,2) AS price, [1,2] AS list) TO '${engine.files}/e.parquet' (FORMAT parquet)`,
    );
    await engine.run('nd', file('c.ndjson', 'ndjson'));
    await engine.run('js', file('d.json', 'json'));
    await engine.run('pq', file('e.parquet', 'parquet'));
    expect(await rowsOf('nd')).toEqual([
      { a: '1', b: 'x' },
      { a: '2', b: null },
    ]);
    expect(await rowsOf('js')).toEqual([{ a: 1.5 }, { a: null }]);
    expect(await rowsOf('pq')).toEqual([{ price: '12.34', list: [1, 2] }]);
    expect(await typesOf('pq')).toEqual({ price: 'DECIMAL(9,2)', list: 'INTEGER[]' });
  });

  it('makes a column of each key, of however many and however rare', async () => {
    const lines = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n');
    await writeFile(join(engine.files, 'wide.ndjson'), lines([WIDE, WIDE]));
    await writeFile(join(engine.files, 'wide.json'), JSON.stringify([WIDE]));
    await writeFile(join(engine.files, 'sparse.ndjson'), lines(SPARSE));
    for (const [name, format, columns] of [
      ['wide.ndjson', 'ndjson', 200],
      ['wide.json', 'json', 200],
      ['sparse.ndjson', 'ndjson', 301],
    ] as const) {
      const outcome = await engine.run(`keys-${name}`, file(name, format));
      expect(outcome.columns).toHaveLength(columns);
      expect(outcome.columns?.[0]?.type).toBe('BIGINT');
    }
    expect((await rowsOf('keys-sparse.ndjson'))[7]).toMatchObject({ id: '7', attr_6: null, attr_7: '7' });
  });

  it('makes a column of a key that only the last row has, and only the last file', async () => {
    await mkdir(join(engine.files, 'late'));
    const rows = Array.from({ length: 25_000 }, (_, id) => `{"id":${id}}`);
    await writeFile(
      join(engine.files, 'late', '00.ndjson'),
      `${rows.join('\n')}\n{"id":25000,"note":"last row"}\n`,
    );
    for (let n = 10; n < 60; n += 1) await writeFile(join(engine.files, 'late', `${n}.ndjson`), '{"id":1}\n');
    await writeFile(join(engine.files, 'late', '99.ndjson'), '{"id":2.5,"word":"last file"}\n');
    const { columns } = await engine.run('late', file('late', 'ndjson'));
    expect(columns?.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'id DOUBLE',
      'note VARCHAR',
      'word VARCHAR',
    ]);
    expect((await rowsOf('late')).filter(({ note, word }) => note !== null || word !== null)).toEqual([
      { id: 25_000, note: 'last row', word: null },
      { id: 2.5, note: null, word: 'last file' },
    ]);
  });

  it.each([
    ['json', '[{"id": 18446744073709551616, "f": 1.5}]'],
    ['ndjson', '{"id": 1, "f": 1e2}\n{"id": -9223372036854775809}'],
    ['csv', 'id,f\n1,2.5\n18446744073709551616,1'],
  ] as const)(
    'says that numbers of a %s file beyond 64 bits are doubles, unless that was asked for',
    async (format, text) => {
      const path = `beyond.${format}`;
      await writeFile(join(engine.files, path), text);
      engine.logs.length = 0;
      await engine.run('beyond', file(path, format));
      expect(engine.logs.filter(({ level }) => level === 'WARN')).toEqual([
        {
          level: 'WARN',
          message: `beyond: id of ${path} has numbers beyond 64 bits, which are read as doubles of some 16 digits: name the type in "columns".`,
        },
      ]);
      engine.logs.length = 0;
      await engine.run('beyond', file(path, format, { columns: { id: 'DOUBLE', f: 'DOUBLE' } }));
      expect(engine.logs.map(({ level }) => level)).toEqual(['INFO']);
    },
  );

  it('reads every file of the format in a directory and nothing else', async () => {
    await mkdir(join(engine.files, 'parts'));
    await writeFile(join(engine.files, 'parts', '1.csv'), 'a\n1\n');
    await writeFile(join(engine.files, 'parts', '2.csv'), 'a,b\n2,x\n');
    await writeFile(join(engine.files, 'parts', '.3.csv.9.tmp'), 'a\n3\n');
    await engine.run('dir', file('parts', 'csv'));
    expect(await rowsOf('dir')).toEqual([
      { a: '1', b: null },
      { a: '2', b: 'x' },
    ]);
  });

  it('takes wildcards in a name literally', async () => {
    await writeFile(join(engine.files, 'w[1]*.csv'), 'a\n1\n');
    await writeFile(join(engine.files, 'w1x.csv'), 'a\n2\n');
    await engine.run('glob', file('w[1]*.csv', 'csv'));
    expect(await rowsOf('glob')).toEqual([{ a: '1' }]);
  });

  it('keeps the order of a file of many thousand rows', async () => {
    const lines = Array.from({ length: 300_000 }, (_, index) => `${index}`);
    await writeFile(join(engine.files, 'long.csv'), `n\n${lines.join('\n')}\n`);
    await engine.run('long', file('long.csv', 'csv'));
    const path = join(engine.options.runDirectory, 'long.parquet');
    const [row] = await query(
      `SELECT count(*) c, bool_and(n = file_row_number) o FROM read_parquet('${path}', file_row_number = true)`,
    );
    expect(row).toEqual({ c: '300000', o: true });
  });

  it.each([
    ['a missing file', 'nosuch.csv', 'There is no file'],
    ['a path that leaves the files directory', '../other/x.csv', 'outside the allowed directories'],
    ['an absolute path outside the roots', '/etc/passwd', 'outside the allowed directories'],
    ['a link that leads out', 'link.csv', 'outside the allowed directories'],
    ['a directory of a link that leads out', 'linked/x.csv', 'outside the allowed directories'],
    ['a directory with a link that leads out', 'mixed', 'outside the allowed directories'],
    ['a device', '/dev/zero', 'outside the allowed directories'],
    ['a NUL character', 'a\0.csv', 'NUL'],
  ])('refuses %s', async (_, path, message) => {
    await writeFile(join(engine.directory, 'other', 'x.csv'), 'secret\n1\n');
    await mkdir(join(engine.files, 'mixed'), { recursive: true });
    await symlink(join(engine.directory, 'other', 'x.csv'), join(engine.files, 'link.csv')).catch(
      () => undefined,
    );
    await symlink(join(engine.directory, 'other'), join(engine.files, 'linked')).catch(() => undefined);
    await symlink(join(engine.directory, 'other', 'x.csv'), join(engine.files, 'mixed', 'm.csv')).catch(
      () => undefined,
    );
    await expect(engine.run('bad', file(path, 'csv'))).rejects.toMatchObject({
      kind: 'SOURCE',
      transient: false,
      message: expect.stringContaining(message),
    });
    expect(await readdir(engine.options.runDirectory)).not.toContain('bad.parquet');
  });

  it('says which value does not fit, and leaves no result', async () => {
    await writeFile(join(engine.files, 'f.csv'), 'a\n1\nx\n');
    await expect(
      engine.run('misfit', file('f.csv', 'csv', { columns: { a: 'INTEGER' } })),
    ).rejects.toMatchObject({
      kind: 'SOURCE',
      message: expect.stringMatching(/Could not convert string "x" to 'INTEGER'|Line: 3/),
    });
    const left = (await readdir(engine.options.runDirectory)).filter((name) => name.includes('misfit'));
    expect(left).toEqual([]);
  });
});

describe('inline sources', () => {
  it('reads rows with recognised or given types', async () => {
    await engine.run(
      'in1',
      inline([
        { a: 1, b: { c: 'x' } },
        { a: null, d: true },
      ]),
    );
    expect(await rowsOf('in1')).toEqual([
      { a: '1', b: { c: 'x' }, d: null },
      { a: null, b: null, d: true },
    ]);
    await engine.run(
      'in2',
      inline([{ a: '12.10', day: '2026-01-01' }], { a: 'DECIMAL(8,2)', day: 'VARCHAR' }),
    );
    expect(await rowsOf('in2')).toEqual([{ a: '12.10', day: '2026-01-01' }]);
    expect(await typesOf('in2')).toEqual({ a: 'DECIMAL(8,2)', day: 'VARCHAR' });
  });

  it('have a column for each key, of however many and however rare', async () => {
    expect((await engine.run('in-wide', inline([WIDE]))).columns).toHaveLength(200);
    expect((await engine.run('in-sparse', inline(SPARSE))).columns).toHaveLength(301);
  });

  it('may be empty when the columns are named', async () => {
    expect(await engine.run('none', inline([], { a: 'BIGINT' }))).toMatchObject({ rows: 0 });
    expect(await typesOf('none')).toEqual({ a: 'BIGINT' });
  });

  it('gives one result when repeated', async () => {
    await engine.run('twice', inline([{ a: 1 }]));
    await engine.run('twice', inline([{ a: 1 }]));
    expect(await rowsOf('twice')).toEqual([{ a: '1' }]);
    expect(
      (await readdir(engine.options.runDirectory)).filter((name) => name.startsWith('twice')),
    ).toHaveLength(1);
  });
});
