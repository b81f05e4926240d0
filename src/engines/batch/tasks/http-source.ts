import { open } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { HttpConnectionTarget, TaskOutcome } from '../../engine.js';
import { EngineError } from '../../engine-error.js';
import type { ColumnTypes, HttpSourceSpec } from '../../task-spec.js';
import { decimalsAsText, type KeepingTypes, noteWideColumns, parseExactly } from '../exact-json.js';
import { firstParameters, pager, pointed } from '../http-paging.js';
import { describeColumns, exactSelect, saveResult, withScratchFile } from '../run-files.js';
import { ScratchLimit } from '../scratch-limit.js';
import { fileLiteral } from '../sql-text.js';
import { type TaskContext, withDuckDb } from '../task-context.js';
import { beyondWatermark, newWatermark, watermarkOf } from '../watermark.js';
import { jsonOptions } from './file-source.js';

const MAX_PAGES = 1_000;

/** Fetches page after page into a file of a row a line, which DuckDB turns into typed Parquet. */
export function runHttpSource(context: TaskContext, spec: HttpSourceSpec): Promise<TaskOutcome> {
  const { task } = context;
  return withScratchFile(context, 'ndjson', async (path) => {
    const { rows: fetched, pages, wide } = await download(context, spec, path);
    context.log(
      'INFO',
      `${task.id}: ${fetched} rows in ${pages} pages from ${spec.path} of ${spec.connection}`,
    );
    if (fetched === 0 && !spec.columns) {
      throw new EngineError(
        'SOURCE',
        `${spec.path} has no rows, so their columns are unknown: name them in "columns".`,
      );
    }
    return withDuckDb(context, 'loader', async (connection) => {
      const from = readerOf(path, spec.columns ?? (await keptColumns(context, connection, path, wide)));
      const select = await exactSelect(connection, from);
      const saved = await saveResult(
        context,
        connection,
        select + beyondWatermark(context, spec.incremental),
      );
      return { ...saved, ...(await newWatermark(context, connection, spec.incremental)) };
    });
  });
}

function readerOf(path: string, columns: ColumnTypes | undefined): string {
  return `read_json(${[fileLiteral(path), ...jsonOptions('ndjson', columns)].join(', ')})`;
}

/** The recognised columns, those of `wide` as the types that keep them; undefined when there are none such. */
async function keptColumns(
  context: TaskContext,
  connection: DuckDBConnection,
  path: string,
  wide: KeepingTypes,
): Promise<ColumnTypes | undefined> {
  if (wide.size === 0) return undefined;
  context.log(
    'WARN',
    `${context.task.id}: ${[...wide.keys()].join(', ')}: whole numbers beyond 64 bits are kept as text; "columns" may say DECIMAL.`,
  );
  const recognised = await describeColumns(connection, readerOf(path, undefined));
  const keys = await connection.runAndReadAll(
    `SELECT DISTINCT unnest(json_keys(json)) FROM read_ndjson_objects(${fileLiteral(path)})`,
  );
  const known = new Set(keys.getRows().map(([key]) => key));
  // Of Id and id DuckDB makes Id and id_1, which is no name to read a key by.
  if (!recognised.every(({ name }) => known.has(name)))
    throw new EngineError(
      'SOURCE',
      'Two keys of the rows differ in case alone, and there are whole numbers beyond 64 bits: name "columns".',
    );
  return Object.fromEntries(recognised.map(({ name, type }) => [name, wide.get(name) ?? type]));
}

async function download(
  context: TaskContext,
  spec: HttpSourceSpec,
  path: string,
): Promise<{ rows: number; pages: number; wide: KeepingTypes }> {
  const target = context.connection;
  if (target?.type !== 'http')
    throw new EngineError('CONNECTION', `Task ${context.task.id} needs an HTTP connection.`);
  const { openHttp } = await import('../http-client.js');
  const client = openHttp(target, merged(spec.headers, target.headers), context.signal);
  const file = await open(path, 'w', 0o600);
  try {
    const maxPages = spec.maxPages ?? MAX_PAGES;
    const decimals = Object.entries(spec.columns ?? {}).flatMap(([name, type]) =>
      type.startsWith('DECIMAL') ? [name] : [],
    );
    const limit = new ScratchLimit(context);
    const next = pager(spec.paging);
    const wide: KeepingTypes = new Map();
    let rows = 0;
    let pages = 0;
    for (let url: URL | undefined = firstUrl(context, spec, target); url; pages += 1) {
      if (pages === maxPages)
        throw new EngineError('SOURCE', `${spec.path} has more than ${maxPages} pages.`);
      const { text, link } = await client.get(url);
      const body = parsed(text, spec.path);
      const found = rowsOf(body, spec);
      const lines = found.map((row) => `${JSON.stringify(decimalsAsText(row, decimals))}\n`).join('');
      limit.take(Buffer.byteLength(lines));
      if (lines) await file.appendFile(lines);
      if (!spec.columns) noteWideColumns(wide, text, found);
      rows += found.length;
      context.progress(0, rows);
      url = next({ url, rows: found.length, body, link });
    }
    return { rows, pages, wide };
  } finally {
    await file.close();
    await client.close();
  }
}

/** The connection's own headers win: they hold its credentials. */
function merged(
  headers: Readonly<Record<string, string>> = {},
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const entries = [...Object.entries(headers), ...Object.entries(own)];
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

function firstUrl(context: TaskContext, spec: HttpSourceSpec, { baseUrl }: HttpConnectionTarget): URL {
  const base = new URL(baseUrl);
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/`;
  const url = new URL(base);
  const [path = '', search = ''] = spec.path.split(/\?(.*)/s);
  url.pathname = base.pathname + path.replace(/^\/+/, '');
  if (!url.pathname.startsWith(base.pathname) && `${url.pathname}/` !== base.pathname) {
    throw new EngineError('SOURCE', `The path "${spec.path}" leaves the connection's base URL.`);
  }
  for (const [name, value] of new URLSearchParams(search)) url.searchParams.append(name, value);
  const parameters: Record<string, string | number | boolean> = {
    ...spec.query,
    ...firstParameters(spec.paging),
  };
  const watermark = watermarkOf(context, spec.incremental);
  if (spec.incremental && watermark !== undefined)
    parameters[spec.incremental.parameter] = isoTime(watermark);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  return url;
}

/** A timestamp as DuckDB writes it, in the form that APIs take (RFC 3339); anything else as it is. */
function isoTime(watermark: string): string {
  return watermark.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$/, '$1T$2Z');
}

function parsed(text: string, path: string): unknown {
  try {
    return parseExactly(text);
  } catch (cause) {
    // The error's message quotes the answer.
    throw new EngineError('SOURCE', `${path} answered with what is no JSON.`, { cause });
  }
}

function rowsOf(body: unknown, { rows: pointer, path }: HttpSourceSpec): readonly object[] {
  const found = pointer === undefined ? body : pointed(body, pointer);
  const place = pointer === undefined ? 'the answer' : `"${pointer}" of the answer`;
  if (!Array.isArray(found)) throw new EngineError('SOURCE', `${path}: ${place} is no array of rows.`);
  for (const row of found) {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      throw new EngineError('SOURCE', `${path}: ${place} holds a row that is no object.`);
    }
  }
  return found as readonly object[];
}
