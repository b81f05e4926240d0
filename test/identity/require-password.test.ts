import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO_PASSWORD, requirePassword } from '../../src/domain/identity/index.js';

const user = { email: 'Long.Address@acme.test' };
const sha1 = (text: string) => createHash('sha1').update(text).digest('hex').toUpperCase();
const breached = Array.from({ length: 500 }, (_, n) => `known password ${n}`);
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-passwords-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function listOf(passwords: string[], line: (hash: string, n: number) => string): Promise<string> {
  const file = path.join(directory, `${Math.random()}.txt`);
  await writeFile(file, passwords.map(sha1).sort().map(line).join(''));
  return file;
}

const check = (password: string, breachedPasswordsFile?: string) =>
  requirePassword({ breachedPasswordsFile }, password, user);
const refusal = (constraint: string) => ({
  code: 'VALIDATION_ERROR',
  details: { field: 'password', constraint },
});

describe('requirePassword', () => {
  it.each([DEMO_PASSWORD, 'x'.repeat(12), 'x'.repeat(128), '😀'.repeat(128), 'only lower case words'])(
    'takes %j',
    async (password) => expect(await check(password)).toBeUndefined(),
  );

  it.each([
    ['', 'minLength'],
    ['x'.repeat(11), 'minLength'],
    ['😀'.repeat(6), 'minLength'],
    ['x'.repeat(129), 'maxLength'],
    ['long.address@ACME.test', 'isNotEmail'],
    ['my long.address@acme.test!', 'isNotEmail'],
  ])('refuses %j for %s', async (password, constraint) => {
    await expect(check(password)).rejects.toMatchObject(refusal(constraint));
  });

  it('names the field as the caller does', async () => {
    await expect(
      requirePassword({ breachedPasswordsFile: undefined }, 'x', user, 'newPassword'),
    ).rejects.toMatchObject({
      details: { field: 'newPassword' },
    });
  });

  it.each([
    ['bare hashes', (hash: string) => `${hash}\n`],
    ['counts and CR LF', (hash: string, n: number) => `${hash}:${10 ** (n % 9)}\r\n`],
    ['lower case', (hash: string) => `${hash.toLowerCase()}\n`],
  ])('finds each password of a list with %s and no other', async (_what, line) => {
    const file = await listOf(breached, line);
    for (const password of breached)
      await expect(check(password, file)).rejects.toMatchObject(refusal('isNotBreached'));
    for (let n = 0; n < 200; n += 1) expect(await check(`unknown password ${n}`, file)).toBeUndefined();
  });

  it.each([0, 1, 2, 3])('works with a list of %d lines, the last without its end', async (lines) => {
    const known = breached.slice(0, lines);
    const file = await listOf(known, (hash, n) => (n === lines - 1 ? hash : `${hash}\n`));
    for (const password of known)
      await expect(check(password, file)).rejects.toMatchObject(refusal('isNotBreached'));
    expect(await check('unknown password', file)).toBeUndefined();
  });

  it('lets nothing pass when the list is not there or is something else', async () => {
    await expect(check('a fine password', path.join(directory, 'absent'))).rejects.toThrow('ENOENT');
    const file = path.join(directory, 'words.txt');
    await writeFile(file, 'password\n123456\nqwerty\n');
    await expect(check('a fine password', file)).rejects.toThrow('not a sorted list');
  });
});
