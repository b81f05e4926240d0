import { describe, expect, it } from '@jest/globals';
import { BatchEngine } from '../../../src/engines/batch/batch-engine.js';
import type { GraphTask } from '../../../src/engines/engine.js';
import { isForTrino } from '../../../src/engines/trino/trino-fit.js';
import { TrinoOrDuckDbEngine } from '../../../src/engines/trino/trino-or-duckdb.js';
import type { TrinoSettings } from '../../../src/engines/trino/trino-settings.js';
import { source, target, task, transform } from './graph-tasks.js';

describe('the choice between Trino and DuckDB', () => {
  const orders = source('orders');
  const copy = [orders, target('orders')];
  const settings: TrinoSettings = {
    url: 'http://trino.invalid',
    user: 'etl',
    catalogs: new Map([['*/shop', 'pg']]),
  };
  const engine = new TrinoOrDuckDbEngine(settings);
  const duckDb = new BatchEngine();

  it.each<[string, GraphTask[]]>([
    [
      'a connection that is no catalog',
      [source('orders', { table: 'orders', connection: 'crm' }), target('orders')],
    ],
    [
      'a file',
      [task('orders', { kind: 'source', type: 'file', path: 'a.csv', format: 'csv' }), target('orders')],
    ],
    ['a watermark', [source('orders', { table: 'orders', incremental: { column: 'id' } }), target('orders')]],
    [
      'a hash',
      [orders, transform('m', { type: 'mask', columns: { a: { method: 'HASH' } } }, ['orders']), target('m')],
    ],
    ['code', [orders, transform('m', { type: 'javascript', code: '' }, ['orders']), target('m')]],
    [
      'a quarantine',
      [orders, transform('m', { type: 'cast', columns: {}, onError: 'QUARANTINE' }, ['orders']), target('m')],
    ],
    [
      'the first row read',
      [orders, transform('m', { type: 'deduplicate', keys: ['id'] }, ['orders']), target('m')],
    ],
    ['a table that is emptied first', [orders, target('orders', { mode: 'OVERWRITE' })]],
    ['a merge of what is missing', [orders, target('orders', { mode: 'MERGE', keys: ['id'] })]],
    ['two targets', [orders, target('orders'), { ...target('orders'), id: 'second' }]],
    ['no target', [orders]],
    [
      'a check',
      [{ ...orders, checks: [{ type: 'rowCount', min: 1, severity: 'ERROR', index: 0 }] }, target('orders')],
    ],
    ['a timeout of one task', [{ ...orders, alone: true }, target('orders')]],
  ])('leaves %s to DuckDB', (_, tasks) => {
    expect(engine.plan(tasks)).toEqual(duckDb.plan(tasks));
    expect(isForTrino(settings, engine.plan(tasks), undefined)).toBe(false);
  });

  it('gives Trino a graph of tables that are all in its catalogs', () => {
    const units = engine.plan(copy);
    expect(units).toEqual([expect.objectContaining({ id: 'out', within: [orders] })]);
    expect(isForTrino(settings, units, undefined)).toBe(true);
  });

  it('gives a workspace the catalogs it was given, though DuckDB carries out the same tasks as one as well', () => {
    const bound: TrinoSettings = { ...settings, catalogs: new Map([['a-workspace/shop', 'pg']]) };
    const units = new TrinoOrDuckDbEngine(bound).plan(copy, 'a-workspace');
    expect(isForTrino(bound, units, 'a-workspace')).toBe(true);
    for (const workspace of ['another', undefined]) {
      const others = new TrinoOrDuckDbEngine(bound).plan(copy, workspace);
      expect(others).toHaveLength(1);
      expect(isForTrino(bound, others, workspace)).toBe(false);
    }
  });
});
