import { describe, expect, it } from '@jest/globals';
import { traceColumns } from '../../../src/domain/lineage/column-lineage.js';
import type { Task } from '../../../src/domain/pipelines/index.js';
import type { ResultColumn } from '../../../src/engines/engine.js';
import type { TaskSpec } from '../../../src/engines/task-spec.js';

const columns = new Map<string, ResultColumn[]>();
const datasets = new Map([
  ['orders', { namespace: 'postgres://db:5432', name: 'erp.public.orders' }],
  ['rates', { namespace: 'file', name: '/lake/rates.parquet' }],
]);

function task(id: string, spec: object, inputs: string[], names: string[]): Task {
  columns.set(
    id,
    names.map((name) => ({ name, type: 'VARCHAR' })),
  );
  const full = { kind: 'transformation', ...spec } as TaskSpec;
  return { id, spec: full, kind: full.kind, type: full.type, inputs, dependsOn: inputs, level: 0 };
}

const source = (id: string, names: string[]) => task(id, { kind: 'source', type: 'file' }, [], names);

async function trace(tasks: Task[]): Promise<Record<string, string[]>> {
  const traced = await traceColumns(tasks, columns, datasets);
  const last = traced.get(tasks.at(-1)?.id ?? '') ?? new Map();
  return Object.fromEntries(
    [...last].map(([name, fields]) => [
      name,
      fields.map(({ dataset, field, subtype, masking }: Parameters<typeof describeField>[0]) =>
        describeField({ dataset, field, subtype, masking }),
      ),
    ]),
  );
}

function describeField(field: {
  dataset: { name: string };
  field: string;
  subtype: string;
  masking: boolean;
}): string {
  return `${field.dataset.name}.${field.field} ${field.subtype}${field.masking ? ' masked' : ''}`;
}

describe('column lineage of a run', () => {
  const orders = source('orders', ['id', 'amount', 'currency', 'email']);
  const rates = source('rates', ['currency', 'rate']);

  it('is followed from the target through SQL, joins, renames, masks and aggregates to the datasets', async () => {
    const tasks = [
      orders,
      rates,
      task(
        'clean',
        { type: 'sql', sql: 'SELECT DISTINCT ON (id) * FROM Orders ORDER BY id' },
        ['orders'],
        ['id', 'amount', 'currency', 'email'],
      ),
      task(
        'hidden',
        { type: 'mask', columns: { email: { method: 'HASH' } } },
        ['clean'],
        ['id', 'amount', 'currency', 'email'],
      ),
      task(
        'joined',
        { type: 'join', on: ['currency'] },
        ['hidden', 'rates'],
        ['id', 'amount', 'currency', 'email', 'rate'],
      ),
      task(
        'converted',
        {
          type: 'sql',
          sql: 'WITH x AS (SELECT *, amount * rate AS pln FROM joined) FROM x SELECT currency, email AS who, pln',
        },
        ['joined'],
        ['currency', 'who', 'pln'],
      ),
      task(
        'sums',
        { type: 'aggregate', groupBy: ['currency', 'who'], measures: { total: 'sum(pln)' } },
        ['converted'],
        ['currency', 'who', 'total'],
      ),
      task('out', { kind: 'target', type: 'file' }, ['sums'], ['currency', 'who', 'total']),
    ];
    expect(await trace(tasks)).toEqual({
      currency: ['erp.public.orders.currency IDENTITY', '/lake/rates.parquet.currency IDENTITY'],
      who: ['erp.public.orders.email TRANSFORMATION masked'],
      total: ['erp.public.orders.amount AGGREGATION', '/lake/rates.parquet.rate AGGREGATION'],
    });
  });

  it('leaves out columns that the result does not have, and says nothing of what it cannot know', async () => {
    expect(
      await trace([
        orders,
        task(
          'less',
          { type: 'sql', sql: 'SELECT * EXCLUDE (email) FROM orders' },
          ['orders'],
          ['id', 'amount', 'currency'],
        ),
      ]),
    ).toEqual({
      id: ['erp.public.orders.id IDENTITY'],
      amount: ['erp.public.orders.amount IDENTITY'],
      currency: ['erp.public.orders.currency IDENTITY'],
    });
    expect(await trace([orders, task('js', { type: 'javascript', code: '' }, ['orders'], ['x'])])).toEqual(
      {},
    );
    expect(await trace([orders, task('odd', { type: 'sql', sql: 'SELEKT' }, ['orders'], ['x'])])).toEqual({});
  });
});
