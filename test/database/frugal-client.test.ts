import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Query } from 'pg';
import { FrugalClient } from '../../src/database/frugal-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { keptByScavenges } from '../support/scavenge.js';

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

const QUERIES = 500;
const ROWS = 20;

function keptBy(asked: Client): Promise<number> {
  return keptByScavenges(async () => {
    for (let n = 0; n < QUERIES; n += 1)
      await asked.query(`select repeat(g::text, 500) from generate_series(1, ${ROWS}) g`);
  });
}

describe('a frugal client', () => {
  it('keeps no answered query beyond a scavenge, where a client of pg keeps all', async () => {
    const plain = new Client({ connectionString: database.url });
    await plain.connect();
    try {
      expect(await keptBy(plain)).toBeGreaterThan(QUERIES * ROWS * 500);
      expect(await keptBy(client)).toBeLessThan((QUERIES * ROWS * 500) / 4);
    } finally {
      await plain.end();
    }
  });

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
