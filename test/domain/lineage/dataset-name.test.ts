import { expect, it } from '@jest/globals';
import { datasetOf, sourceUri } from '../../../src/domain/lineage/dataset-name.js';
import type { ConnectionTarget } from '../../../src/engines/engine.js';
import type { TaskSpec } from '../../../src/engines/task-spec.js';

const table: TaskSpec = { kind: 'source', type: 'postgres', connection: 'c', table: 'orders' };
const file: TaskSpec = { kind: 'source', type: 'file', path: 'a b.csv', format: 'csv' };
const page: TaskSpec = { kind: 'source', type: 'http', connection: 'c', path: 'orders?key=s3cret' };
const database = (host: string): ConnectionTarget => ({
  type: 'postgres',
  host,
  port: 5432,
  database: 'd',
  user: 'u',
});
const api = (baseUrl: string): ConnectionTarget => ({
  type: 'http',
  baseUrl,
  headers: {},
  allowPrivate: false,
});

it.each([
  [
    'a table',
    table,
    database('db.test'),
    'postgres://db.test:5432',
    'd.public.orders',
    'postgres://db.test:5432',
  ],
  [
    'a table by IPv6',
    table,
    database('::1'),
    'postgres://[::1]:5432',
    'd.public.orders',
    'postgres://[::1]:5432',
  ],
  ['a file', file, undefined, 'file', '/base/a b.csv', 'file:///base/a%20b.csv'],
  ['a page', page, api('https://api.test/v2/'), 'https://api.test', '/v2/orders', 'https://api.test'],
  ['a page of a connection that is gone', page, undefined, 'http', '/orders', undefined],
] as const)('names %s, and where it comes from', (_what, spec, target, namespace, name, uri) => {
  const dataset = datasetOf({ id: 't', spec }, target, '/base');
  expect(dataset).toEqual({ namespace, name });
  expect(dataset && sourceUri(dataset)).toBe(uri);
});
