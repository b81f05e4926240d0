import type { ResultColumn } from '../../engines/engine.js';
import type { JoinTransformationSpec } from '../../engines/task-spec.js';
import type { Task } from '../pipelines/index.js';
import type { DatasetId } from './dataset-name.js';
import type { Origin, Subtype } from './origin.js';
import { sqlOrigins } from './sql-lineage.js';

/** A column of a dataset. */
export interface InputField {
  dataset: DatasetId;
  field: string;
  subtype: Subtype;
  masking: boolean;
}

export type ColumnLineage = ReadonlyMap<string, readonly InputField[]>;

/**
 * For each task, which columns of which datasets each column of its result was made from. `columns` are the results'
 * columns as the run saw them; a task without them ends the trace. Tasks are in topological order.
 * @throws RangeError when a task's SQL is too large to be tried
 */
export async function traceColumns(
  tasks: readonly Task[],
  columns: ReadonlyMap<string, readonly ResultColumn[]>,
  datasets: ReadonlyMap<string, DatasetId>,
): Promise<Map<string, ColumnLineage>> {
  const traced = new Map<string, ColumnLineage>();
  for (const task of tasks) {
    const own = columns.get(task.id) ?? [];
    const dataset = datasets.get(task.id);
    if (task.kind === 'source') {
      traced.set(task.id, dataset ? fieldsOf(dataset, own) : new Map());
      continue;
    }
    const origins = await originsOf(task, columns);
    const known = new Set(own.map(({ name }) => name));
    const lineage = new Map<string, InputField[]>();
    for (const [name, from] of origins) {
      if (known.size > 0 && !known.has(name)) continue;
      lineage.set(name, throughInputs(from, traced));
    }
    traced.set(task.id, lineage);
  }
  return traced;
}

function fieldsOf(dataset: DatasetId, columns: readonly ResultColumn[]): ColumnLineage {
  return new Map(
    columns.map(({ name }) => [name, [{ dataset, field: name, subtype: 'IDENTITY', masking: false }]]),
  );
}

/** What happened last decides the subtype, unless nothing happened; a mask anywhere on the way stays one. */
function throughInputs(origins: readonly Origin[], traced: ReadonlyMap<string, ColumnLineage>): InputField[] {
  const fields = new Map<string, InputField>();
  for (const { input, field, subtype, masking } of origins) {
    for (const before of traced.get(input)?.get(field) ?? []) {
      const key = JSON.stringify([before.dataset, before.field]);
      const other = fields.get(key);
      fields.set(key, {
        ...before,
        subtype: subtype === 'IDENTITY' ? before.subtype : subtype,
        masking: before.masking || masking === true || other?.masking === true,
      });
    }
  }
  return [...fields.values()];
}

type Columns = ReadonlyMap<string, readonly ResultColumn[]>;
type Origins = ReadonlyMap<string, readonly Origin[]>;

async function originsOf(task: Task, columns: Columns): Promise<Origins> {
  const { id, spec, inputs } = task;
  const width = columns.get(id)?.length ?? 1;
  const [input = ''] = inputs;
  const names = (columns.get(input) ?? []).map(({ name }) => name);
  const each = (change: (name: string) => Partial<Origin> & { as?: string }): Origins =>
    new Map(
      names.map((name) => {
        const { as = name, ...rest } = change(name);
        return [as, [{ input, field: name, subtype: 'IDENTITY', ...rest }]];
      }),
    );
  if (spec.kind === 'target') return each(() => ({}));
  switch (spec.type) {
    case 'filter':
    case 'deduplicate':
      return each(() => ({}));
    case 'rename':
      return each((name) => ({ as: spec.columns[name] ?? name }));
    case 'cast':
      return each((name) => (name in spec.columns ? { subtype: 'TRANSFORMATION' } : {}));
    case 'mask':
      return each((name) => (name in spec.columns ? { subtype: 'TRANSFORMATION', masking: true } : {}));
    case 'join':
      return joinOrigins(inputs, spec, columns);
    case 'aggregate': {
      const groups = (spec.groupBy ?? []).map(quoted);
      const measures = Object.entries(spec.measures).map(([name, sql]) => `(${sql}\n) AS ${quoted(name)}`);
      const grouping = groups.length > 0 ? ` GROUP BY ${groups.join(', ')}` : '';
      const sql = `SELECT ${[...groups, ...measures].join(', ')} FROM ${quoted(input)}${grouping}`;
      return aggregated(await sqlOrigins(sql, inputs, columns, width), new Set(spec.groupBy));
    }
    case 'sql':
      return sqlOrigins(spec.sql, inputs, columns, width);
    // What a function in JavaScript made a column from, nobody can tell from its text.
    case 'javascript':
      return new Map();
    default:
      return new Map();
  }
}

function aggregated(origins: Origins, groupBy: ReadonlySet<string>): Origins {
  return new Map(
    [...origins].map(([name, from]) => [
      name,
      groupBy.has(name) ? from : from.map((origin) => ({ ...origin, subtype: 'AGGREGATION' })),
    ]),
  );
}

function joinOrigins(inputs: readonly string[], spec: JoinTransformationSpec, columns: Columns): Origins {
  const [left = '', right = ''] = inputs;
  const leftNames = (columns.get(left) ?? []).map(({ name }) => name);
  const origins = new Map<string, Origin[]>(
    leftNames.map((name) => [name, [{ input: left, field: name, subtype: 'IDENTITY' }]]),
  );
  if (spec.how === 'SEMI' || spec.how === 'ANTI') return origins;
  const shared = new Set(Array.isArray(spec.on) ? spec.on : []);
  for (const { name } of columns.get(right) ?? []) {
    const origin: Origin = { input: right, field: name, subtype: 'IDENTITY' };
    if (shared.has(name)) origins.get(name)?.push(origin);
    else origins.set(origins.has(name) ? `${spec.rightPrefix ?? 'right_'}${name}` : name, [origin]);
  }
  return origins;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
