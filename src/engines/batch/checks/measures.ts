import { EngineError } from '../../engine-error.js';
import type { QualityCheckSpec } from '../../task-spec.js';
import { identifier, literal } from '../sql-text.js';
import type { Checked, Found } from './checked.js';
import { checkedColumn } from './checked-column.js';

/** A check that is one aggregate over the result. */
export interface Measured {
  sql: string;
  /** `value` as DuckDB's JSON has it: counts as text. */
  judge(value: unknown): Found;
}

type MeasuredCheck = Extract<
  QualityCheckSpec,
  { type: 'notNull' | 'rowCount' | 'range' | 'regex' | 'freshness' }
>;
type Measures = {
  [C in MeasuredCheck as C['type']]: (check: C, checked: Checked) => Measured;
};

const MEASURES: Measures = {
  notNull: ({ column }, checked) => {
    const name = identifier(checkedColumn(checked, column).name);
    return counting(`${name} IS NULL`, (rows) => `"${column}" is null in ${rows}`, `"${column}" has no null`);
  },
  rowCount: ({ min, max }) => ({
    sql: 'count(*)',
    judge: (value) => {
      const rows = Number(value);
      const passed = (min === undefined || rows >= min) && (max === undefined || rows <= max);
      return { passed, message: `${rows} rows, ${bounds(min, max)} expected` };
    },
  }),
  range: ({ column, min, max }, checked) => {
    const { name, type } = checkedColumn(checked, column);
    const outside = [
      ...(min === undefined ? [] : [`${identifier(name)} < ${limit(min, type)}`]),
      ...(max === undefined ? [] : [`${identifier(name)} > ${limit(max, type)}`]),
    ].join(' OR ');
    return counting(
      outside === '' ? 'false' : outside,
      (rows) => `"${column}" is not ${bounds(min, max)} in ${rows}`,
      `"${column}" is ${bounds(min, max)}`,
    );
  },
  regex: ({ column, pattern }, checked) => {
    const text = `CAST(${identifier(checkedColumn(checked, column).name)} AS VARCHAR)`;
    return counting(
      `NOT regexp_matches(${text}, ${literal(pattern)})`,
      (rows) => `"${column}" does not match ${pattern} in ${rows}`,
      `"${column}" matches ${pattern}`,
    );
  },
  freshness: ({ column, maxAgeMs }, checked) => {
    const { name, type } = checkedColumn(checked, column);
    if (!/^(DATE|TIMESTAMP)/.test(type))
      throw new EngineError('SQL', `"${column}" is ${type}, neither a date nor a timestamp.`);
    return {
      // A timestamp without a zone is taken as UTC, the engine's own zone.
      sql: `epoch_ms(CAST(max(${identifier(name)}) AS TIMESTAMPTZ))`,
      judge: (value) => {
        if (value == null) return { passed: false, message: `"${column}" has no value` };
        const age = checked.now - Number(value);
        const newest = new Date(Number(value)).toISOString();
        return {
          passed: age <= maxAgeMs,
          message: `the newest "${column}" is ${newest}, ${seconds(age)} old; ${seconds(maxAgeMs)} are allowed`,
        };
      },
    };
  },
};

/** Undefined for a check that is a query of its own. @throws EngineError SQL when the column does not serve */
export function measureOf(check: QualityCheckSpec, checked: Checked): Measured | undefined {
  if (!(check.type in MEASURES)) return undefined;
  const measure = MEASURES[check.type as MeasuredCheck['type']] as (
    check: QualityCheckSpec,
    checked: Checked,
  ) => Measured;
  return measure(check, checked);
}

/** Nulls neither break a condition nor are counted, which SQL's three-valued logic does by itself. */
function counting(broken: string, failure: (rows: string) => string, success: string): Measured {
  return {
    sql: `count(*) FILTER (WHERE ${broken})`,
    judge: (value) => {
      const failedRows = Number(value);
      const passed = failedRows === 0;
      return { passed, failedRows, message: passed ? success : failure(rowsText(failedRows)) };
    },
  };
}

/** A number is compared as it is written; text takes the column's type, so that '2026-01-01' is a date for a date. */
function limit(value: number | string, type: string): string {
  if (typeof value === 'string') return `CAST(${literal(value)} AS ${type})`;
  if (!Number.isFinite(value)) throw new EngineError('SQL', `${value} is no limit.`);
  return String(value);
}

export function rowsText(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`;
}

function bounds(min: number | string | undefined, max: number | string | undefined): string {
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `from ${min} to ${max}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
