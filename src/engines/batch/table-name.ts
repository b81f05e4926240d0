import { identifier } from './sql-text.js';

export interface TableName {
  schema: string | undefined;
  table: string;
  /** Ready to stand in a statement. */
  quoted: string;
  /** As a person writes it. */
  plain: string;
}

/** `name` or `schema.name`, taken literally: upper case stays upper case. The pipeline schema admits nothing else. */
export function tableName(text: string): TableName {
  const dot = text.indexOf('.');
  const schema = dot < 0 ? undefined : text.slice(0, dot);
  const table = text.slice(dot + 1);
  const quoted = schema === undefined ? identifier(table) : `${identifier(schema)}.${identifier(table)}`;
  return { schema, table, quoted, plain: text };
}
