import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openHttp } from '../../../src/engines/batch/http-client.js';
import { downloadObjects } from '../../../src/engines/batch/s3-files.js';
import type { TaskContext } from '../../../src/engines/batch/task-context.js';

/** Every name leads to the metadata service of a cloud; nothing else in this process resolves one meanwhile. */
const { lookup } = dns;
const asked: string[] = [];

beforeAll(() => {
  const linkLocal = (name: string, _options: unknown, callback: (error: null, found: object[]) => void) => {
    asked.push(name);
    callback(null, [{ address: '169.254.169.254', family: 4 }]);
  };
  dns.lookup = linkLocal as typeof lookup;
  syncBuiltinESMExports();
});
afterAll(() => {
  dns.lookup = lookup;
  syncBuiltinESMExports();
});

it('a name that means a link-local address is not connected to over HTTP, where private ones are allowed', async () => {
  const { signal } = new AbortController();
  const http = openHttp(
    { type: 'http', baseUrl: 'http://inner.test', headers: {}, allowPrivate: true },
    {},
    signal,
  );
  await expect(http.get(new URL('http://inner.test/latest'))).rejects.toMatchObject({
    kind: 'CONNECTION',
    message: expect.stringContaining('may not be reached'),
  });
  await http.close();
  expect(asked).toContain('inner.test');
});

it('nor by S3', async () => {
  const target = {
    type: 'file',
    storage: 's3',
    bucket: 'lake',
    prefix: '',
    region: 'us-east-1',
    endpoint: 'http://store.test',
    forcePathStyle: true,
    allowPrivate: true,
  } as const;
  const context = { signal: new AbortController().signal } as TaskContext;
  await expect(downloadObjects(context, target, 'a.csv', '/nowhere', () => true)).rejects.toMatchObject({
    kind: 'CONNECTION',
    message: expect.stringContaining('may not be reached'),
  });
  expect(asked).toContain('store.test');
});
