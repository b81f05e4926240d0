import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, Query } from 'pg';
import { FrugalClient } from '../../src/database/frugal-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new FrugalClient({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.close();
});

describe('a frugal client', () => {
  it('answers what is asked with values, by a config and by a callback', async () => {
    expect((await client.query('select $1::int + 1 as n', [1])).rows).toEqual([{ n: 2 }]);
    expect((await client.query({ text: 'select $1::int as n', values: [3], rowMode: 'array' })).rows).toEqual(
      [[3]],
    );
    const { rows } = await new Promise<{ rows: unknown[] }>((resolve, reject) => {
      client.query('select $1::int as n', [4], (error, result) => (error ? reject(error) : resolve(result)));
    });
    expect(rows).toEqual([{ n: 4 }]);
  });

  it('leaves alone what has its own way to answer', async () => {
    const query = client.query(new Query('select 5 as n'));
    const [[row]] = await Promise.all([once(query, 'row'), once(query, 'end')]);
    expect(row).toEqual({ n: 5 });
  });

  it('fails with the code of the database and the stack of whoever asked', async () => {
    const asked = async () => client.query('select nonsense');
    const error = await asked().catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: '42703', stack: expect.stringContaining('frugal-client.test') });
  });
});
