import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSecretBox } from '../src/secret-box.js';

const run = promisify(execFile);
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'opsgraph-secret-'));
});

afterEach(() => rmSync(dataDir, { recursive: true }));

const boxOf = (key: string) => createSecretBox({ secretKey: key.repeat(32), dataDir });

describe('a secret box', () => {
  it('opens what it sealed, whatever it is, and never seals the same way twice', () => {
    const box = boxOf('a1');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const sealed = box.seal(text);
        expect(box.open(sealed)).toBe(text);
        expect(box.seal(text)).not.toBe(sealed);
      }),
    );
  });

  it('refuses every text with one character changed, cut, or added', () => {
    const box = boxOf('a1');
    const sealed = box.seal('the password of a connection');
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.constantFrom('', 'A', '.', 'AA'), (at, instead) => {
        const changed = sealed.slice(0, at) + instead + sealed.slice(at + 1);
        fc.pre(
          Buffer.compare(
            Buffer.from(changed.slice(3), 'base64url'),
            Buffer.from(sealed.slice(3), 'base64url'),
          ) !== 0 || changed.slice(0, 3) !== sealed.slice(0, 3),
        );
        expect(() => box.open(changed)).toThrow(/sealed secret/);
      }),
    );
    for (const text of ['', 'v1', 'v1.', 'v1.AAAA', 'v2.AAAA', 'plain'])
      expect(() => box.open(text)).toThrow(/sealed secret/);
  });

  it('refuses what another key sealed, and says where to look', () => {
    expect(() => boxOf('b2').open(boxOf('a1').seal('x'))).toThrow(/OPSGRAPH_SECRET_KEY/);
  });

  it('derives the same key for the same purpose only', () => {
    const [one, again, cookies] = [
      boxOf('a1').deriveKey('x'),
      boxOf('a1').deriveKey('x'),
      boxOf('a1').deriveKey('cookies'),
    ];
    expect(one).toHaveLength(32);
    expect(again).toEqual(one);
    expect(cookies).not.toEqual(one);
    expect(boxOf('b2').deriveKey('x')).not.toEqual(one);
  });
});

describe('a key of its own', () => {
  it('is made in DATA_DIR for its owner alone and found there again', () => {
    const nested = path.join(dataDir, 'not', 'there');
    const sealed = createSecretBox({ secretKey: undefined, dataDir: nested }).seal('kept');
    expect(statSync(path.join(nested, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(createSecretBox({ secretKey: undefined, dataDir: nested }).open(sealed)).toBe('kept');
    expect(readdirSync(nested)).toEqual(['secret.key']);
  });

  it('is refused when the file holds something else', () => {
    writeFileSync(path.join(dataDir, 'secret.key'), 'short');
    expect(() => createSecretBox({ secretKey: undefined, dataDir })).toThrow(/32 bytes in hexadecimal/);
  });

  it('is the same for processes that start at the same moment', async () => {
    // Node strips the types of this one module by itself: it imports nothing but Node at run time.
    const program = `
      const { createSecretBox } = await import(${JSON.stringify(path.resolve('src/secret-box.ts'))});
      const box = createSecretBox({ dataDir: process.argv[1] });
      process.stdout.write(Buffer.from(box.deriveKey('test')).toString('hex'));`;
    const derived = Array.from({ length: 6 }, async () => {
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program, dataDir]);
      return stdout;
    });
    const keys = new Set(await Promise.all(derived));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[0-9a-f]{64}$/);
    expect(readFileSync(path.join(dataDir, 'secret.key'), 'utf8').trim()).toMatch(/^[0-9a-f]{64}$/);
    expect(readdirSync(dataDir)).toEqual(['secret.key']);
  });
});
