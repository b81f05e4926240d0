import { setTimeout as delay } from 'node:timers/promises';
import { BasicAuth, type QueryResult, Trino } from 'trino-client';
import { abortError } from '../batch/abort.js';
import type { ResultColumn, TaskProgress } from '../engine.js';
import { EngineError } from '../engine-error.js';
import { requestError, statusOf, TrinoFailure } from './trino-failure.js';
import type { TrinoSettings } from './trino-settings.js';

export interface Statement {
  sql: string;
  /** Stands in system.runtime.queries, by which the query can be found again. */
  source: string;
  signal: AbortSignal;
  progress?: ((progress: TaskProgress) => void) | undefined;
}

export interface StatementResult {
  columns: readonly ResultColumn[];
  rows: readonly (readonly unknown[])[];
  /** Of a statement that writes. */
  updated: number;
}

/** The declared type knows nothing of what a write answers. */
type Page = QueryResult & { updateCount?: number };

interface Request {
  method?: 'POST' | 'DELETE';
  url: string;
  data?: string;
  headers?: Readonly<Record<string, string>>;
  timeout?: number;
  maxRedirects?: number;
  signal?: AbortSignal;
}

/** What trino-client sends every request by, with its headers and credentials; private in its declarations. */
interface Requests {
  request<T>(request: Request): Promise<T>;
}

/** Trino holds a request for a second at most; what takes this long is lost. */
const REQUEST_TIMEOUT_MS = 30_000;
const CANCEL_TIMEOUT_MS = 3_000;
/** The protocol wants 502, 503 and 504 tried again after 50 to 100 ms; a coordinator that stays away is given up. */
const RETRY_DELAY_MS = 100;
const MAX_RETRIES = 50;
/** What is selected here are descriptions and load records. */
const MAX_ROWS = 10_000;

/**
 * Runs statements by the client protocol, https://trino.io/docs/current/develop/client-protocol.html. trino-client's own
 * iterator passes over pages without rows and takes no signal, so its pages are turned here: a write has only such
 * pages, and they tell how far it is.
 */
export class TrinoStatements {
  readonly #client: Requests;
  readonly #origin: string;

  constructor({ url, user, password }: TrinoSettings) {
    this.#origin = new URL(url).origin;
    const trino = Trino.create({
      server: this.#origin,
      source: 'opsgraph',
      extraHeaders: { 'X-Trino-User': user },
      ...(password !== undefined && { auth: new BasicAuth(user, password) }),
    });
    this.#client = (trino as unknown as { client: Requests }).client;
  }

  /**
   * Settles when the statement has ended in Trino, or, aborted, when Trino was told to cancel it.
   * @throws EngineError; TrinoFailure when it is Trino's own word
   */
  async run({ sql, source, signal, progress }: Statement): Promise<StatementResult> {
    if (signal.aborted) throw abortError(signal);
    // Not aborted by the signal: without its answer the query could not be cancelled.
    const first: Request = {
      method: 'POST',
      url: '/v1/statement',
      data: sql,
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Trino-Source': source },
    };
    let page = await this.#request(first, new Set([429, 503]));
    const rows: unknown[][] = [];
    let columns: ResultColumn[] = [];
    for (;;) {
      if (page.error) throw new TrinoFailure(page.error);
      if (page.columns) columns = page.columns.map(({ name, type }) => ({ name, type }));
      for (const row of page.data ?? []) rows.push(row as unknown[]);
      if (rows.length > MAX_ROWS) await this.#tooMany(page);
      const { stats, nextUri } = page;
      if (stats)
        progress?.({ percent: Math.floor(stats.progressPercentage ?? 0), rows: stats.processedRows });
      if (nextUri === undefined) return { columns, rows, updated: page.updateCount ?? 0 };
      page = await this.#next(nextUri, signal);
    }
  }

  async #next(nextUri: string, signal: AbortSignal): Promise<Page> {
    // The request carries the credentials.
    if (new URL(nextUri).origin !== this.#origin) {
      throw new EngineError('CONNECTION', 'Trino sends its client to an address other than TRINO_URL.');
    }
    try {
      if (signal.aborted) throw abortError(signal);
      return await this.#request({ url: nextUri, signal }, new Set([429, 502, 503, 504, undefined]));
    } catch (error) {
      if (!signal.aborted) throw error;
      await this.#cancel(nextUri);
      throw abortError(signal);
    }
  }

  async #request(request: Request, again: ReadonlySet<number | undefined>): Promise<Page> {
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.#client.request<Page>({
          timeout: REQUEST_TIMEOUT_MS,
          maxRedirects: 0,
          ...request,
        });
      } catch (error) {
        const isLast = retries >= MAX_RETRIES || isAborted(request);
        if (isLast || !again.has(statusOf(error))) throw requestError(error);
        await delay(RETRY_DELAY_MS);
      }
    }
  }

  /** Trino ends what nobody asks for after five minutes by itself. */
  async #cancel(nextUri: string): Promise<void> {
    const request: Request = { method: 'DELETE', url: nextUri, timeout: CANCEL_TIMEOUT_MS };
    await this.#request(request, new Set()).catch(() => undefined);
  }

  async #tooMany({ nextUri }: Page): Promise<never> {
    if (nextUri !== undefined) await this.#cancel(nextUri);
    throw new EngineError('INTERNAL', `Trino answered with more than ${MAX_ROWS} rows.`);
  }
}

function isAborted({ signal }: Request): boolean {
  return signal?.aborted === true;
}
