export interface DiscoveredColumn {
  name: string;
  /** As the system calls it. */
  type: string;
  nullable: boolean;
  primaryKey: boolean;
}

export interface DiscoveredTable {
  /** Of a file: the empty text. */
  schema: string;
  name: string;
  columns: DiscoveredColumn[];
}

export interface DiscoveredSchema {
  tables: DiscoveredTable[];
  /** Whether there is more than is shown. */
  truncated: boolean;
}

export const MAX_TABLES = 1_000;
export const MAX_COLUMNS = 20_000;

/** A row of a catalogue: a column with the table it belongs to; of a table without columns, `column` is null. */
export interface CatalogueRow {
  schema: string;
  table: string;
  column: string | null;
  type: string | null;
  nullable: boolean | number | null;
  primaryKey: boolean | number | null;
}

/** @param rows in the order of their tables, asked for with one more than MAX_TABLES and MAX_COLUMNS */
export function gathered(rows: readonly CatalogueRow[]): DiscoveredSchema {
  const tables: DiscoveredTable[] = [];
  for (const { schema, table, column, type, nullable, primaryKey } of rows.slice(0, MAX_COLUMNS)) {
    let current = tables.at(-1);
    if (current?.schema !== schema || current.name !== table) {
      current = { schema, name: table, columns: [] };
      tables.push(current);
    }
    if (column === null) continue;
    const flags = { nullable: Boolean(nullable), primaryKey: Boolean(primaryKey) };
    current.columns.push({ name: column, type: type ?? '', ...flags });
  }
  const truncated = rows.length > MAX_COLUMNS || tables.length > MAX_TABLES;
  return { tables: tables.slice(0, MAX_TABLES), truncated };
}
