/** What a back end is told about one task, free of YAML and of the domain. Every field is already checked. */

export type FileFormat = 'csv' | 'json' | 'ndjson' | 'parquet';
/** A column type name of the closed list in schema/pipeline.schema.json, for example `DECIMAL(18,2)`. */
export type ColumnTypes = Readonly<Record<string, string>>;

export interface CsvOptions {
  delimiter?: string;
  header?: boolean;
  quote?: string;
  escape?: string;
  nullValue?: string;
  decimalSeparator?: string;
  dateFormat?: string;
  timestampFormat?: string;
}

/** Rows strictly above the stored watermark only; `initial` stands in for it until a first run has succeeded. Without either all rows are read, nulls included. */
export interface Incremental {
  column: string;
  initial?: string | number;
}

/** Values that don't cast are set aside while their rows are at most this share (0 to 1) of all. */
export interface Quarantine {
  maxShare: number;
}

export interface FileSourceSpec {
  kind: 'source';
  type: 'file';
  /** A connection of type `file`; without one, the server's own files. */
  connection?: string;
  /**
   * As written: relative to `filesBase` (or to the connection's root or prefix), or absolute below one of `filesRoots`.
   * A directory means all its files of the format.
   */
  path: string;
  format: FileFormat;
  columns?: ColumnTypes;
  csv?: CsvOptions;
  incremental?: Incremental;
  /** csv with `columns` only. */
  quarantine?: Quarantine;
}

export interface InlineSourceSpec {
  kind: 'source';
  type: 'inline';
  rows: readonly Readonly<Record<string, unknown>>[];
  columns?: ColumnTypes;
}

/** Exactly one of `table` (`name` or `schema.name`) and `query` is present. */
interface DatabaseSource {
  kind: 'source';
  connection: string;
  table?: string;
  query?: string;
  incremental?: Incremental;
}

export interface PostgresSourceSpec extends DatabaseSource {
  type: 'postgres';
}

export interface MysqlSourceSpec extends DatabaseSource {
  type: 'mysql';
}

/** How the next page is found; without `paging` there is one page. */
export type HttpPaging =
  | { kind: 'page'; parameter: string; start?: number; sizeParameter?: string; size?: number }
  | { kind: 'offset'; parameter: string; sizeParameter?: string; size: number }
  /** `path` is a JSON Pointer (RFC 6901) to the next cursor in the answer; absent or null ends the paging. */
  | { kind: 'cursor'; parameter: string; path: string }
  /** RFC 8288 Link header, rel=next. */
  | { kind: 'link' };

export interface HttpSourceSpec {
  kind: 'source';
  type: 'http';
  connection: string;
  /** Appended to the connection's base URL. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean>>;
  headers?: Readonly<Record<string, string>>;
  /** JSON Pointer (RFC 6901) to the array of rows in the answer; the answer itself when absent. */
  rows?: string;
  paging?: HttpPaging;
  /** 1,000 when absent. More pages than this fail the task. */
  maxPages?: number;
  columns?: ColumnTypes;
  incremental?: Incremental & { /** Query parameter that is given the watermark. */ parameter: string };
}

export interface SqlTransformationSpec {
  kind: 'transformation';
  type: 'sql';
  sql: string;
}

/** Keeps the rows for which the SQL expression `where` is true. One input. */
export interface FilterTransformationSpec {
  kind: 'transformation';
  type: 'filter';
  where: string;
}

/** `columns`: old name to new name; the others stay. `keepOnlyNamed` drops the others. One input. */
export interface RenameTransformationSpec {
  kind: 'transformation';
  type: 'rename';
  columns: Readonly<Record<string, string>>;
  keepOnlyNamed?: boolean;
}

/** One input. FAIL (default) fails the task at a value that does not cast, NULL makes it null, QUARANTINE sets its row aside. */
export interface CastTransformationSpec {
  kind: 'transformation';
  type: 'cast';
  columns: ColumnTypes;
  onError?: 'FAIL' | 'NULL' | 'QUARANTINE';
  /** With onError QUARANTINE. */
  quarantine?: Quarantine;
}

/** One row for each combination of `keys`: the first by `orderBy` (SQL order terms), else the first read. One input. */
export interface DeduplicateTransformationSpec {
  kind: 'transformation';
  type: 'deduplicate';
  keys: readonly string[];
  orderBy?: readonly string[];
}

/** `measures`: name to SQL aggregate expression. One input; without `groupBy` one row. */
export interface AggregateTransformationSpec {
  kind: 'transformation';
  type: 'aggregate';
  groupBy?: readonly string[];
  measures: Readonly<Record<string, string>>;
}

/** Two inputs, the left one first. `on`: columns of one name in both, or pairs of a left and a right name; absent for CROSS. */
export interface JoinTransformationSpec {
  kind: 'transformation';
  type: 'join';
  how?: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'SEMI' | 'ANTI' | 'CROSS';
  on?: readonly string[] | Readonly<Record<string, string>>;
  /** Put before the name of a right column that the left has as well; `right_` when absent. */
  rightPrefix?: string;
}

export type MaskMethod =
  | { method: 'NULL' }
  | { method: 'REDACT'; with?: string }
  /** HMAC-SHA256 in hexadecimal under a key of the workspace: equal values stay equal and can be joined. */
  | { method: 'HASH' }
  /** Keeps the last `keep` characters (4 when absent). */
  | { method: 'PARTIAL'; keep?: number };

export interface MaskTransformationSpec {
  kind: 'transformation';
  type: 'mask';
  columns: Readonly<Record<string, MaskMethod>>;
}

/**
 * `code` defines `function transform(row)`, which returns a row, an array of rows, or null to drop it; one input.
 * Runs in an interpreter without process, network, files, clock or modules.
 */
export interface JavascriptTransformationSpec {
  kind: 'transformation';
  type: 'javascript';
  code: string;
  /** Types of the result's columns; read from the values when absent. */
  columns?: ColumnTypes;
}

export type TransformationSpec =
  | SqlTransformationSpec
  | FilterTransformationSpec
  | RenameTransformationSpec
  | CastTransformationSpec
  | DeduplicateTransformationSpec
  | AggregateTransformationSpec
  | JoinTransformationSpec
  | MaskTransformationSpec
  | JavascriptTransformationSpec;

export interface FileTargetSpec {
  kind: 'target';
  type: 'file';
  connection?: string;
  path: string;
  format: 'csv' | 'ndjson' | 'parquet';
  mode: 'OVERWRITE' | 'APPEND';
}

export type TableTargetMode = 'APPEND' | 'OVERWRITE' | 'UPSERT' | 'MERGE';

interface TableTarget {
  kind: 'target';
  connection: string;
  table: string;
  /**
   * UPSERT inserts new keys and updates known ones. MERGE makes the table what the input is: it also deletes the rows
   * whose key the input has not, or, with `deleteWhen`, those for which that SQL expression over the input is true.
   */
  mode: TableTargetMode;
  /** Present exactly when the mode is UPSERT or MERGE. */
  keys?: readonly string[];
  deleteWhen?: string;
  /** Whether a column that the table lacks is added to it as nullable (self-healing); true when absent. */
  widen?: boolean;
}

export interface PostgresTargetSpec extends TableTarget {
  type: 'postgres';
}

export interface MysqlTargetSpec extends TableTarget {
  type: 'mysql';
}

export type SourceSpec =
  | FileSourceSpec
  | InlineSourceSpec
  | PostgresSourceSpec
  | MysqlSourceSpec
  | HttpSourceSpec;
export type TargetSpec = FileTargetSpec | PostgresTargetSpec | MysqlTargetSpec;
export type TaskSpec = SourceSpec | TransformationSpec | TargetSpec;

export type TaskKind = TaskSpec['kind'];
export type TaskType = TaskSpec['type'];

interface Check {
  /** ERROR fails the task, WARNING is noted. */
  severity: 'ERROR' | 'WARNING';
  /** Place in the definition's list, from 0. */
  index: number;
}

/** A condition on the result of a task, tried when the result is there and before anything reads it. */
export type QualityCheckSpec = Check &
  (
    | { type: 'notNull'; column: string }
    | { type: 'unique'; columns: readonly string[] }
    | { type: 'rowCount'; min?: number; max?: number }
    | { type: 'range'; column: string; min?: number | string; max?: number | string }
    | { type: 'regex'; column: string; pattern: string }
    /** The newest value of a date or timestamp column is at most `maxAgeMs` old. */
    | { type: 'freshness'; column: string; maxAgeMs: number }
    /** Every value of `column` is found in `references.column` of another task's result. Nulls pass. */
    | { type: 'referential'; column: string; references: { task: string; column: string } }
    /** A SELECT over the task's result (under the task's id); the check passes when it yields no row. */
    | { type: 'customSql'; sql: string }
  );
