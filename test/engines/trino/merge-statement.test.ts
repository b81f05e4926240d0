import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ResultColumn } from '../../../src/engines/engine.js';
import { GraphQuery } from '../../../src/engines/trino/graph-query.js';
import { writeStatement } from '../../../src/engines/trino/write-statement.js';

// DuckDB takes the same INSERT and MERGE as Trino: it stands in for the Trino that was not at hand, as far as that goes.

let connection: DuckDBConnection;
let instance: DuckDBInstance;

beforeEach(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  await connection.run(`
    ATTACH ':memory:' AS pg; CREATE SCHEMA pg.mart; CREATE SCHEMA pg.public;
    CREATE TABLE pg.public.changes (id int, name text, gone boolean);
    CREATE TABLE pg.mart.t (id int, name text, gone boolean);
    INSERT INTO pg.public.changes VALUES (1, 'Ada', false), (2, 'Ben', true), (3, 'Cyd', true), (4, 'Dan', NULL);
    INSERT INTO pg.mart.t VALUES (1, 'old', false), (2, 'old', false), (7, 'kept', false)`);
});
afterEach(() => {
  connection.closeSync();
  instance.closeSync();
});

async function describeColumns(sql: string): Promise<ResultColumn[]> {
  const reader = await connection.runAndReadAll(sql);
  return reader.columnNames().map((name) => ({ name, type: 'varchar' }));
}

async function write(more: { mode: 'APPEND' | 'UPSERT' | 'MERGE'; deleteWhen?: string; keys?: string[] }) {
  const query = new GraphQuery(
    () => ({ catalog: 'pg', schema: 'public' }),
    describeColumns,
    new AbortController().signal,
  );
  const columns = await query.add({
    id: 'Changes',
    inputs: [],
    spec: { kind: 'source', type: 'postgres', connection: 'shop', query: 'SELECT * FROM changes' },
  });
  const spec = { kind: 'target', type: 'postgres', connection: 'shop', table: 'mart.t', ...more } as const;
  const task = { id: 'out', inputs: ['Changes'], spec };
  await connection.run(await writeStatement({ task, spec, query, columns, table: '"pg"."mart"."t"' }));
}

async function rows(): Promise<string[]> {
  const reader = await connection.runAndReadAll('SELECT id, name FROM pg.mart.t ORDER BY id, name');
  return reader.getRowsJson().map((row) => row.join(' '));
}

describe('the statement that writes a target', () => {
  it('adds', async () => {
    await write({ mode: 'APPEND' });
    expect(await rows()).toEqual(['1 Ada', '1 old', '2 Ben', '2 old', '3 Cyd', '4 Dan', '7 kept']);
  });

  it('inserts what is new and updates what is known', async () => {
    await write({ mode: 'UPSERT', keys: ['id'] });
    await write({ mode: 'UPSERT', keys: ['id'] });
    expect(await rows()).toEqual(['1 Ada', '2 Ben', '3 Cyd', '4 Dan', '7 kept']);
  });

  it('deletes by its condition, and does not insert what is to go', async () => {
    await write({ mode: 'MERGE', keys: ['id'], deleteWhen: 'Changes.gone' });
    expect(await rows()).toEqual(['1 Ada', '4 Dan', '7 kept']);
  });

  it.each([
    ['twice', "(9, 'a', false), (9, 'b', false)"],
    ['null', "(NULL, 'a', false)"],
  ])('fails as a whole where a key is there %s', async (_, values) => {
    await connection.run(`INSERT INTO pg.public.changes VALUES ${values}`);
    await expect(write({ mode: 'UPSERT', keys: ['id'] })).rejects.toThrow(
      'UPSERT into mart.t: a key (id) is null or there are several rows with it',
    );
    expect(await rows()).toEqual(['1 old', '2 old', '7 kept']);
  });
});
