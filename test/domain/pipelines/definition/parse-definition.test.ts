import { describe, expect, it } from '@jest/globals';
import { compiled, HEAD, SMALL } from './definitions.js';

describe('a definition in the short form', () => {
  it('compiles to one graph with levels, defaults and policies', () => {
    const { definition, graph } = compiled(`
apiVersion: v1
name: orders_daily
description: every day
engine: AUTO
retry: { type: exponential, interval: PT30S, maxInterval: PT10M, maxAttempts: 3 }
timeout: PT1H30M
source:
  - { id: orders, type: postgres, connection: erp, table: public.orders }
  - { id: rates, type: file, path: fx/rates.tsv.gz, timeout: PT1.5S }
transformations:
  - { id: clean, type: sql, inputs: [orders], sql: "SELECT 1" }
  - { id: convert, type: sql, dependsOn: [clean], inputs: [clean, rates], sql: "SELECT 2", retry: { maxAttempts: 5 } }
  - { id: last, type: sql, sql: "SELECT 3" }
target: { id: mart, type: postgres, connection: dwh, table: mart.orders, mode: UPSERT, keys: [id] }
`);
    expect(definition).toEqual({
      apiVersion: 'v1',
      name: 'orders_daily',
      description: 'every day',
      engine: 'AUTO',
      parameters: [],
      retry: {
        type: 'exponential',
        intervalMs: 30_000,
        maxIntervalMs: 600_000,
        maxAttempts: 3,
      },
      timeoutMs: 5_400_000,
    });
    expect(graph.engine).toBe('BATCH');
    expect(graph.levels.map((level) => level.map(({ id }) => id))).toEqual([
      ['orders', 'rates'],
      ['clean'],
      ['convert'],
      ['last'],
      ['mart'],
    ]);
    expect(graph.tasks).toEqual([
      {
        id: 'orders',
        kind: 'source',
        type: 'postgres',
        inputs: [],
        dependsOn: [],
        level: 0,
        spec: {
          kind: 'source',
          type: 'postgres',
          connection: 'erp',
          table: 'public.orders',
        },
      },
      {
        id: 'rates',
        kind: 'source',
        type: 'file',
        inputs: [],
        dependsOn: [],
        level: 0,
        timeoutMs: 1_500,
        spec: {
          kind: 'source',
          type: 'file',
          path: 'fx/rates.tsv.gz',
          format: 'csv',
        },
      },
      {
        id: 'clean',
        kind: 'transformation',
        type: 'sql',
        inputs: ['orders'],
        dependsOn: ['orders'],
        level: 1,
        spec: { kind: 'transformation', type: 'sql', sql: 'SELECT 1' },
      },
      {
        id: 'convert',
        kind: 'transformation',
        type: 'sql',
        inputs: ['clean', 'rates'],
        dependsOn: ['clean', 'rates'],
        level: 2,
        retry: { type: 'fixed', intervalMs: 60_000, maxAttempts: 5 },
        spec: { kind: 'transformation', type: 'sql', sql: 'SELECT 2' },
      },
      {
        id: 'last',
        kind: 'transformation',
        type: 'sql',
        inputs: ['convert'],
        dependsOn: ['convert'],
        level: 3,
        spec: { kind: 'transformation', type: 'sql', sql: 'SELECT 3' },
      },
      {
        id: 'mart',
        kind: 'target',
        type: 'postgres',
        inputs: ['last'],
        dependsOn: ['last'],
        level: 4,
        spec: {
          kind: 'target',
          type: 'postgres',
          connection: 'dwh',
          table: 'mart.orders',
          mode: 'UPSERT',
          keys: ['id'],
        },
      },
    ]);
  });

  it('copies the only source to the target when nothing lies between', () => {
    const { graph } = compiled(SMALL);
    expect(graph.tasks.map(({ id, inputs }) => [id, inputs])).toEqual([
      ['a', []],
      ['z', ['a']],
    ]);
    expect(graph.tasks[1]?.spec).toMatchObject({
      format: 'csv',
      mode: 'OVERWRITE',
    });
  });
});

it('a definition under tasks is the graph itself', () => {
  const { graph } = compiled(`${HEAD}tasks:
  - { id: out, kind: target, type: file, path: o.parquet, dependsOn: [b] }
  - { id: b, kind: transformation, type: sql, dependsOn: [a], sql: FROM a }
  - { id: after, kind: target, type: file, path: p.ndjson, input: a, mode: APPEND, dependsOn: [out] }
  - { id: a, kind: source, type: inline, rows: [{ x: 1 }] }
`);
  expect(graph.tasks.map(({ id, inputs, dependsOn, level }) => [id, inputs, dependsOn, level])).toEqual([
    ['a', [], [], 0],
    ['b', ['a'], ['a'], 1],
    ['out', ['b'], ['b'], 2],
    ['after', ['a'], ['out', 'a'], 3],
  ]);
});
