import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { secretsInLogs } from './secrets-in-logs.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'opsgraph-log-search-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const log = (...lines: string[]) =>
  appendFile(path.join(directory, 'a.log'), lines.map((line) => `${line}\n`).join(''));

describe('the search of the logs of a test run', () => {
  it.each([
    ['a JWT', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1c3IifQ.c2lnbmF0dXJl'],
    ['an API key', `tnt_${'0123456789'.repeat(4)}012345678`],
    ['a webhook secret', `whsec_${'Ab1+'.repeat(11)}`],
    ['a challenge', `mfa_${'Ab1-_'.repeat(8)}xyz`],
    ['a hash of a password', '$argon2id$v=19$m=19456'],
    ['a TOTP secret', 'otpauth://totp/x?secret=ABC'],
    ['a private key', '-----BEGIN PRIVATE KEY-----'],
  ])('finds %s by its shape, in any field', async (what, secret) => {
    await log('{"msg":"fine"}', `{"msg":"careless ${secret}"}`);
    const findings = await secretsInLogs(directory);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(what);
    expect(findings[0]).not.toContain(secret);
  });

  it.each(['K7Q2M9XA', 'correct horse battery'])('finds what a test sent as a secret: %s', async (secret) => {
    await writeFile(path.join(directory, 'a.secrets'), `${JSON.stringify(secret)}\n`);
    await log('{"msg":"fine"}', `{"remark":"typed ${secret}."}`);
    await log(`{"remark":"typed '${secret}'"}`);
    expect(await secretsInLogs(directory)).toHaveLength(2);
  });

  it('finds nothing in what a server usually says', async () => {
    await writeFile(path.join(directory, 'a.secrets'), '"K7Q2M9XA"\n');
    await log(
      '{"action":"auth.mfa_backup_codes_regenerated","path":"/v1/auth/mfa/verify"}',
      '{"key":"key_01"}',
    );
    expect(await secretsInLogs(directory)).toEqual([]);
  });
});
