import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type {
  BodyFor,
  JsonOptions,
  JsonRequirements,
  ParamTableFor,
  SseOptions,
  SubscriptionRequirements,
  WebSocketOptions,
} from './route-options.js';
import type { ParamTable, RouteTable, Row } from './row.js';

/** No parameters declared. */
type None = Record<never, never>;

/** Makes rows whose `variables()` see a context of type `C`. */
export interface Route<C> {
  <
    R,
    V extends object,
    const Path extends string,
    P extends ParamTableFor<Path> = None,
    Q extends ParamTable = None,
    H extends ParamTable = None,
    const B extends BodyFor<V> | undefined = undefined,
    W extends V = V,
  >(
    document: TypedDocumentNode<R, V>,
    options: JsonOptions<C, R, V, Path, P, Q, H, B, W> & JsonRequirements<V, B>,
  ): Row<C>;

  /** A subscription served as server-sent events (WHATWG HTML, section 9.2). */
  sse<
    R,
    V extends object,
    const Path extends string,
    P extends ParamTableFor<Path> = None,
    Q extends ParamTable = None,
    H extends ParamTable = None,
    W extends V = V,
  >(
    document: TypedDocumentNode<R, V>,
    options: SseOptions<C, R, V, Path, P, Q, H, W> & SubscriptionRequirements<V>,
  ): Row<C>;

  /** A subscription served over a WebSocket (RFC 6455) that only speaks from server to client. */
  webSocket<
    R,
    V extends object,
    const Path extends string,
    P extends ParamTableFor<Path> = None,
    Q extends ParamTable = None,
    H extends ParamTable = None,
    W extends V = V,
  >(
    document: TypedDocumentNode<R, V>,
    options: WebSocketOptions<C, R, V, Path, P, Q, H, W> & SubscriptionRequirements<V>,
  ): Row<C>;
}

/** What is left of the typed options once the compiler has checked them. */
type CheckedOptions = { readonly params?: object; readonly query?: object; readonly headers?: object };

function row<C>(fixed: object, document: unknown, options: CheckedOptions): Row<C> {
  const { params = {}, query = {}, headers = {} } = options;
  // The one place where the typed row becomes a plain one: the compiler has checked it, the engine reads it.
  return { ...options, ...fixed, document, params, query, headers } as unknown as Row<C>;
}

/** A `route` for hosts that have a context type of their own: `export const route = routeFor<AppContext>()`. */
export function routeFor<C>(): Route<C> {
  const json = (document: unknown, options: CheckedOptions) => row<C>({ kind: 'json' }, document, options);
  const stream = (kind: 'sse' | 'webSocket') => (document: unknown, options: CheckedOptions) =>
    row<C>({ kind, method: 'GET' }, document, options);
  return Object.assign(json, { sse: stream('sse'), webSocket: stream('webSocket') });
}

/** Makes one row of a table from a typed GraphQL operation. `context` is unknown here; see `routeFor`. */
export const route: Route<unknown> = routeFor<unknown>();

/**
 * A table of rows.
 * @param file `import.meta.url` of the module, so that a message about a bad row can name its file.
 */
export function routes<C>(file: string, rows: readonly Row<C>[]): RouteTable<C> {
  return { file: file.startsWith('file:') ? basename(fileURLToPath(file)) : file, rows };
}
