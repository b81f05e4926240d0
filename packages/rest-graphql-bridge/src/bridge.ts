import type { IncomingMessage, ServerResponse } from 'node:http';
import { type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { type ErrorRenderer, failureOf, type InputProblem } from './failure.js';
import { InputChecks, type ScalarConstraints } from './input-check.js';
import { compileNullPolicy } from './null-policy.js';
import { PathTrie } from './path-trie.js';
import { type PlannedRow, planTables } from './plan-table.js';
import { type OnUnexpected, send, sendFailure } from './respond.js';
import type { Method, RouteTable, Row, RowInput } from './row.js';
import { type Mutable, RowParameters } from './row-input.js';
import { compileBody, serveJson } from './serve-json.js';
import { rendererFor, type Surface, surfaceOf } from './surface.js';

/** What a bridge tells about one of its rows. */
export interface RouteInfo {
  readonly file: string;
  readonly kind: Row['kind'];
  readonly method: Method;
  readonly path: string;
  readonly operationName: string;
  /** Which engine runs the operation; see the README for when it is graphql-js. */
  readonly engine: 'jit' | 'graphql-js';
  readonly access: unknown;
}

export interface ContextExtras {
  readonly route: RouteInfo;
  /** For setting response headers; undefined for a WebSocket. */
  readonly response: ServerResponse | undefined;
}

export interface BridgeOptions<C> {
  readonly schema: GraphQLSchema;
  readonly tables: readonly RouteTable<C>[];
  /** Makes the GraphQL context of a request, before its body is read. What it throws is rendered as `thrown`. */
  readonly context: (request: IncomingMessage, access: unknown, extras: ContextExtras) => C | Promise<C>;
  /** Error languages by path prefix. A path that no surface covers and no row serves goes to `next()`. */
  readonly surfaces?: readonly Surface[];
  /** Bound on a request body. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Constraint names for values that a custom scalar's parser refused. */
  readonly scalarConstraints?: ScalarConstraints;
  readonly onUnexpected?: OnUnexpected;
}

export interface Bridge {
  /** For `app.use` of Express 5; it needs nothing of Express beyond Node's request and response. */
  readonly middleware: (
    request: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ) => void;
  readonly routes: readonly RouteInfo[];
}

interface Endpoint {
  readonly info: RouteInfo;
  readonly parameters: RowParameters;
  readonly errors: ErrorRenderer;
  readonly serve: Serve;
}

type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  input: Mutable<RowInput<unknown>>,
  problems: InputProblem[],
) => Promise<void>;

interface Place {
  readonly methods: { [method: string]: Endpoint | undefined };
  allow: string;
  errors: ErrorRenderer;
}

const MIB = 1_048_576;

/**
 * Compiles tables of rows into a middleware.
 * @throws Error listing every unusable row as `file: METHOD /path: reason`.
 */
export function createBridge<C>(options: BridgeOptions<C>): Bridge {
  const { surfaces = [] } = options;
  const tell: OnUnexpected = options.onUnexpected ?? (() => undefined);
  const planned = planTables(options.schema, options.tables);
  const trie = new PathTrie<Place>();
  const checks = new InputChecks(options.scalarConstraints ?? {});
  for (const plan of planned) {
    const endpoint = endpointFor(plan, checks, options);
    const place = trie.place(plan.segments, () => ({ methods: {}, allow: '', errors: endpoint.errors }));
    place.methods[plan.row.method] = endpoint;
    if (plan.row.method === 'GET' && plan.row.kind === 'json') place.methods.HEAD = endpoint;
    place.allow = [...Object.keys(place.methods), 'OPTIONS'].sort().join(', ');
  }

  async function run(
    endpoint: Endpoint,
    request: IncomingMessage,
    response: ServerResponse,
    captured: readonly string[],
    search: string,
  ) {
    try {
      const making = options.context(request, endpoint.info.access, { route: endpoint.info, response });
      const context: unknown = making instanceof Promise ? await making : making;
      const problems: InputProblem[] = [];
      const input = endpoint.parameters.read(request, captured, search, context, problems);
      await endpoint.serve(request, response, input, problems);
    } catch (error) {
      sendFailure(request, response, failureOf(error), endpoint.errors, tell);
    }
  }

  return {
    routes: planned.map(infoOf),
    middleware(request, response, next) {
      const { path, search } = splitUrl(request);
      const match = trie.find(path);
      if (!match) {
        const surface = surfaceOf(surfaces, path);
        if (surface) sendFailure(request, response, { kind: 'not-found' }, surface.errors, tell);
        else next();
        return;
      }
      const { methods, allow } = match.value;
      const method = request.method ?? 'GET';
      const endpoint = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (endpoint) void run(endpoint, request, response, match.captured, search);
      else if (method === 'OPTIONS') send(request, response, 204, { allow }, undefined);
      else sendFailure(request, response, { kind: 'method-not-allowed', allow }, match.value.errors, tell);
    },
  };
}

function infoOf({ row, file, operation }: PlannedRow): RouteInfo {
  const { kind, method, path, access } = row;
  return { file, kind, method, path, operationName: operation.name, engine: operation.engine, access };
}

function endpointFor<C>(plan: PlannedRow, checks: InputChecks, options: BridgeOptions<C>): Endpoint {
  const { row } = plan;
  return {
    info: infoOf(plan),
    parameters: new RowParameters(row, plan.segments),
    errors: row.errors ?? rendererFor(options.surfaces ?? [], row.path),
    serve: serverFor(plan, checks, options.maxBodyBytes ?? MIB),
  };
}

function serverFor(plan: PlannedRow, checks: InputChecks, maxBodyBytes: number): Serve {
  const { row, operation } = plan;
  if (row.kind !== 'json') throw new Error(`${row.kind} rows are served elsewhere`);
  const json = {
    row,
    operation,
    readBody: compileBody(row.body, plan.bodyType, checks, maxBodyBytes),
    select: (row.select as ((data: unknown) => unknown) | undefined) ?? defaultSelect(plan.definition),
    omitNulls: compileNullPolicy(row.nulls),
  };
  return (request, response, input, problems) => serveJson(json, request, response, input, problems);
}

/** The value of the only root field, since a REST body has no use for the field's name. */
function defaultSelect({ selectionSet }: OperationDefinitionNode): (data: unknown) => unknown {
  const [only, ...others] = selectionSet.selections;
  if (others.length > 0 || only?.kind !== Kind.FIELD) return (data) => data;
  const key = only.alias?.value ?? only.name.value;
  return (data) => (data as { [key: string]: unknown })[key];
}

function splitUrl(request: IncomingMessage): { readonly path: string; readonly search: string } {
  // Express strips a mount point from `url`; the rows' paths are whole.
  const url = (request as { originalUrl?: string }).originalUrl ?? request.url ?? '/';
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark + 1) };
}
