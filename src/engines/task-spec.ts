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

export interface FileSourceSpec {
  kind: 'source';
  type: 'file';
  /** As written: relative to `filesBase`, or absolute below one of `filesRoots`. A directory means all its files of the format. */
  path: string;
  format: FileFormat;
  columns?: ColumnTypes;
  csv?: CsvOptions;
}

export interface InlineSourceSpec {
  kind: 'source';
  type: 'inline';
  rows: readonly Readonly<Record<string, unknown>>[];
  columns?: ColumnTypes;
}

/** Exactly one of `table` (`name` or `schema.name`) and `query` is present. */
export interface PostgresSourceSpec {
  kind: 'source';
  type: 'postgres';
  connection: string;
  table?: string;
  query?: string;
}

export interface SqlTransformationSpec {
  kind: 'transformation';
  type: 'sql';
  sql: string;
}

export interface FileTargetSpec {
  kind: 'target';
  type: 'file';
  path: string;
  format: 'csv' | 'ndjson' | 'parquet';
  mode: 'OVERWRITE' | 'APPEND';
}

export interface PostgresTargetSpec {
  kind: 'target';
  type: 'postgres';
  connection: string;
  table: string;
  mode: 'APPEND' | 'OVERWRITE' | 'UPSERT';
  /** Present exactly when the mode is UPSERT. */
  keys?: readonly string[];
}

export type TaskSpec =
  | FileSourceSpec
  | InlineSourceSpec
  | PostgresSourceSpec
  | SqlTransformationSpec
  | FileTargetSpec
  | PostgresTargetSpec;

export type TaskKind = TaskSpec['kind'];
export type TaskType = TaskSpec['type'];
