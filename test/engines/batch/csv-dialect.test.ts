import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readerInDialect } from '../../../src/engines/batch/csv-dialect.js';
import { describeColumns } from '../../../src/engines/batch/run-files.js';
import { fileReader } from '../../../src/engines/batch/tasks/file-source.js';
import type { ResultColumn } from '../../../src/engines/engine.js';
import type { CsvOptions, FileSourceSpec } from '../../../src/engines/task-spec.js';

const numbered = (rows: number, line: (index: number) => string) =>
  Array.from({ length: rows }, (_, index) => line(index)).join('\n');

/** Rows of the sample, after which DuckDB looks no further. */
const BEYOND_THE_SAMPLE = 21_000;

const FILES: Record<string, string> = {
  plain: 'id,name\n1,a\n2,b\n',
  'no line break at the end': 'id,name\n1,a\n2,b',
  'one line': 'id,name',
  'one line with a break': 'id,name\n',
  'one value': 'a',
  'one column': 'name\nx\ny\n',
  'one column of numbers': '1\n2\n3\n',
  'no header': '1,2\n3,4\n5,6\n',
  'header like the rows': 'x,y\na,b\nc,d\n',
  'same column twice': 'a,a,b\n1,2,3\n',
  'column without a name': 'a,,c\n1,2,3\n',
  semicolon: 'id;amount\n1;2,5\n2;3,5\n',
  tab: 'id\tname\n1\tx y\n2\tz\n',
  pipe: 'id|name\n1|x,y\n2|z\n',
  'quoted delimiter': 'id,name\n1,"a,b"\n2,"c"\n',
  'quoted line break': 'id,name\n1,"a\nb"\n2,c\n',
  'doubled quote': 'id,name\n1,"a ""b"" c"\n2,d\n',
  'escaped quote': 'id,name\n1,"a \\"b\\" c"\n2,d\n',
  'single quotes': "id,name\n1,'a,b'\n2,'c'\n",
  'quote in the middle of a value': 'id,name\n1,a"b\n2,c\n',
  'quoted empty text': 'id,name\n1,""\n2,\n',
  'quotes in the header': '"id","the name"\n1,2\n',
  'quotes after the sample': `id,name\n${numbered(BEYOND_THE_SAMPLE, (i) => `${i},n${i}`)}\n9,"a,b"\n`,
  'quoted line break after the sample': `id,name\n${numbered(BEYOND_THE_SAMPLE, (i) => `${i},n${i}`)}\n9,"a\nb"\n`,
  'late quote in one column': `name\n${numbered(BEYOND_THE_SAMPLE, (i) => `n${i}`)}\n"a"\n`,
  'text among numbers after the sample': `id\n${numbered(BEYOND_THE_SAMPLE, String)}\nx\n`,
  'late decimal': `id\n${numbered(300, String)}\n2.5\n`,
  'CR LF': 'id,name\r\n1,a\r\n2,b\r\n',
  'CR LF, one line': 'id,name\r\n',
  CR: 'id,name\r1,a\r2,b\r',
  'line breaks of two kinds': 'id,name\r\n1,a\n2,b\r\n',
  'byte order mark': '\uFEFFid,name\n1,a\n',
  empty: '',
  'only line breaks': '\n\n\n',
  'empty lines between': 'id,name\n\n1,a\n\n2,b\n',
  'a title above': 'Report of May\n\nid,name,amount\n1,a,2\n2,b,3\n3,c,4\n',
  comments: '# made by hand\nid,name\n1,a\n# in between\n2,b\n',
  'row too short': 'id,name,amount\n1,a,2\n2,b\n',
  'row too long': 'id,name\n1,a\n2,b,c\n3,d\n',
  'empty values': 'id,name\n1,\n,b\n,\n',
  'null words': 'id,name\n1,NULL\n2,null\n3,\\N\n',
  dates: 'day,at\n2026-01-02,2026-01-02 03:04:05\n2026-01-03,2026-01-03 04:05:06\n',
  'dates, day first': 'day\n13/01/2026\n14/01/2026\n',
  'dates of two ways': 'day\n01/02/2026\n2026-01-02\n',
  'time with offset': 'at\n2026-01-02T03:04:05+02:00\n',
  booleans: 'flag\ntrue\nFALSE\n',
  'leading zeros': 'code\n007\n008\n',
  'large numbers': 'n\n9223372036854775808\n170141183460469231731687303715884105728\n',
  exponents: 'n\n1e3\n2.5E-2\n',
  spaces: ' id , name \n 1 , a \n',
  unicode: 'größe,名前\n1,日本\n2,Łódź\n',
  tilde: 'a~b\n1~2\n3~4\n',
};

let directory: string;
let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'opsgraph-dialect-'));
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
});

afterAll(async () => {
  connection.closeSync();
  instance.closeSync();
  await rm(directory, { recursive: true, force: true });
});

const specOf = (csv?: CsvOptions): FileSourceSpec => ({
  kind: 'source',
  type: 'file',
  path: 'file.csv',
  format: 'csv',
  ...(csv && { csv }),
});

async function fileOf(content: string): Promise<string> {
  const file = join(directory, 'file.csv');
  await writeFile(file, content);
  return file;
}

interface Reading {
  reader: string;
  columns: readonly ResultColumn[];
}

async function bySelf(file: string, csv?: CsvOptions): Promise<Reading> {
  const reader = fileReader(specOf(csv), [file]);
  return { reader, columns: await describeColumns(connection, reader) };
}

async function whatIsRead(reading: Promise<Reading>): Promise<unknown> {
  try {
    const { reader, columns } = await reading;
    return { rows: (await connection.runAndReadAll(`FROM ${reader}`)).getRowsJson(), columns };
  } catch (error) {
    return { refused: String(error).split('\n')[0] };
  }
}

async function expectTheSame(content: string, csv?: CsvOptions): Promise<void> {
  const file = await fileOf(content);
  const expected = await whatIsRead(bySelf(file, csv));
  expect(await whatIsRead(readerInDialect(connection, specOf(csv), file))).toEqual(expected);
}

it.each(Object.entries(FILES))('reads the same rows and columns as read_csv does: %s', async (_, content) => {
  await expectTheSame(content);
});

it.each<[string, CsvOptions, string]>([
  ['delimiter', { delimiter: ',' }, 'a;b,c\n1;2,3\n'],
  ['absence of a header', { header: false }, 'id,name\n1,a\n'],
  ['header', { header: true }, '1,2\n3,4\n'],
  ['quote', { quote: "'" }, "id,name\n1,'a,b'\n"],
  ['escape', { escape: '\\', quote: '"' }, 'id,name\n1,"a \\" b"\n'],
  ['null value', { nullValue: '-' }, 'id,name\n1,-\n-,b\n'],
  ['decimal separator', { decimalSeparator: ',', delimiter: ';' }, 'id;amount\n1;2,5\n'],
  ['date format', { dateFormat: '%d.%m.%Y' }, 'day\n01.02.2026\n03.04.2026\n'],
])('reads the same where the definition says the %s', async (_, csv, content) => {
  await expectTheSame(content, csv);
});

it('unpacks a file whose ending is in capitals, which DuckDB does not see by itself', async () => {
  const file = join(directory, 'FILE.CSV.GZ');
  await writeFile(file, gzipSync('id,name\n1,a\n'));
  for (const reading of [bySelf(file), readerInDialect(connection, specOf(), file)])
    expect(await whatIsRead(reading)).toMatchObject({ rows: [['1', 'a']] });
});

it('reads lines that are longer than the 2 MB that DuckDB allows by itself', async () => {
  const file = await fileOf(`id,text\n1,${'x'.repeat(3_000_000)}\n2,y\n`);
  const { reader } = await readerInDialect(connection, specOf(), file);
  const read = await connection.runAndReadAll(`SELECT id, length(text) FROM ${reader}`);
  expect(read.getRowsJson()).toEqual([
    ['1', '3000000'],
    ['2', '1'],
  ]);
});
