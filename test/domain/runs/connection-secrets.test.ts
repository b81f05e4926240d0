import { expect, it } from '@jest/globals';
import { ConnectionSecrets } from '../../../src/domain/runs/connection-secrets.js';
import type { ConnectionTarget } from '../../../src/engines/engine.js';

const database = (type: 'postgres' | 'mysql', password: string): ConnectionTarget => ({
  type,
  host: 'db.test',
  port: 1,
  database: 'd',
  user: 'reader',
  password,
});
const api = (headers: Record<string, string>): ConnectionTarget => ({
  type: 'http',
  baseUrl: 'https://api.test',
  headers,
  allowPrivate: false,
});
const bucket: ConnectionTarget = {
  type: 'file',
  storage: 's3',
  bucket: 'b',
  prefix: '',
  region: 'r',
  accessKeyId: 'AKIDREADER',
  secretAccessKey: 'wJalr/key',
  sessionToken: 'session+1',
  allowPrivate: false,
};
const basic = Buffer.from('reader:pass:word').toString('base64');

it.each([
  [
    'a password',
    database('postgres', 'hunter2!'),
    'reader, hunter2! at db.test',
    'reader, [redacted] at db.test',
  ],
  ['a password in a URL', database('mysql', 'p@ss/word'), 'key=p%40ss%2Fword', 'key=[redacted]'],
  ['no word that is short', database('postgres', 'abc'), 'abcdef', 'abcdef'],
  ['no empty password', database('postgres', ''), 'as it was', 'as it was'],
  ['a token', api({ authorization: 'Bearer t0ken-9' }), 'used t0ken-9', 'used [redacted]'],
  [
    'a Basic proof and its password',
    api({ authorization: `Basic ${basic}` }),
    `${basic} is pass:word of reader`,
    '[redacted] is [redacted] of reader',
  ],
  [
    'a key in a header',
    api({ 'x-key': 'k-1234', accept: 'text/csv' }),
    'k-1234, text/csv',
    '[redacted], text/csv',
  ],
  ['keys of a bucket', bucket, 'AKIDREADER wJalr/key session+1', 'AKIDREADER [redacted] [redacted]'],
])('conceals %s', (_what, target, text, told) => {
  const secrets = new ConnectionSecrets();
  expect(secrets.add(target)).toBe(target);
  expect(secrets.conceal(text)).toBe(told);
});

it('leaves nothing of a secret that holds another', () => {
  const secrets = new ConnectionSecrets();
  secrets.add(database('postgres', 'winter'));
  secrets.add(database('mysql', 'winter-2026'));
  expect(secrets.conceal('winter-2026 and winter')).toBe('[redacted] and [redacted]');
});
