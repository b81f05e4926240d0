import { createHmac } from 'node:crypto';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from '@jest/globals';
import { hmacSql, setMaskKey } from '../../../../src/engines/batch/mask/hmac-sql.js';

async function hmac(keyHex: string, text: string): Promise<unknown> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run('SET lock_configuration = true');
    await setMaskKey(connection, keyHex);
    const reader = await connection.runAndReadAll(`SELECT ${hmacSql('$1::VARCHAR')}`, [text]);
    return reader.value(0, 0);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** RFC 4231, the test cases of section 4 whose data is text. */
it.each([
  ['4.2', '0b'.repeat(20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [
    '4.3, a key shorter than the hash',
    Buffer.from('Jefe').toString('hex'),
    'what do ya want for nothing?',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    '4.7, a key longer than a block',
    'aa'.repeat(131),
    'Test Using Larger Than Block-Size Key - Hash Key First',
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    '4.8, long key and data',
    'aa'.repeat(131),
    'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
])('agrees with RFC 4231 section %s', async (_, key, text, expected) => {
  expect(await hmac(key, text)).toBe(expected);
});

it.each(['', 'żółć 😀', 'a\nb', "it's", 'x'.repeat(5000)])('agrees with node:crypto on %j', async (text) => {
  const key = '00ff'.repeat(16);
  expect(await hmac(key, text)).toBe(
    createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('hex'),
  );
});

it('refuses a key that is not hexadecimal', async () => {
  await expect(hmac('0g', 'x')).rejects.toThrow(/hexadecimal/);
});
