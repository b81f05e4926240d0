import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const PROGRAM = fileURLToPath(new URL('scavenged.mjs', import.meta.url));

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** Of all that was tied to what was served, the share that outlives the scavenges. */
async function shareKept(kind: string): Promise<number> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', PROGRAM, kind, database.url],
    { timeout: 25_000 },
  );
  const { kept, tied } = JSON.parse(stdout) as { kept: number; tied: number };
  return kept / tied;
}

it.each(['a short answer', 'a GraphQL operation', 'a query of the frugal client'])(
  'keeps nothing of %s beyond a scavenge',
  async (kind) => {
    expect(await shareKept(kind)).toBeLessThan(0.3);
  },
);

it('would notice: pg’s own client keeps all', async () => {
  expect(await shareKept("a query of pg's own client")).toBeGreaterThan(0.9);
});
