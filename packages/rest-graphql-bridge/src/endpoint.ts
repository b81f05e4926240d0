import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StreamHost } from './event-source.js';
import { type ErrorRenderer, type InputProblem, RequestRefused } from './failure.js';
import type { InputChecks } from './input-check.js';
import { compileNullPolicy } from './null-policy.js';
import type { PlannedRow } from './plan-table.js';
import { refuseProblems } from './request-parameters.js';
import type { JsonRow, Method, Row, RowInput, SseRow } from './row.js';
import { type Mutable, RowParameters } from './row-input.js';
import { selectOf } from './row-select.js';
import { type Around, compileBody, serveJson } from './serve-json.js';
import { serveSse } from './serve-sse.js';
import { rendererFor, type Surface } from './surface.js';
import { opaquePaths } from './trace-select.js';

/** What a bridge tells about one of its rows. */
export interface RouteInfo {
  readonly file: string;
  readonly kind: Row['kind'];
  readonly method: Method;
  readonly path: string;
  readonly operationName: string;
  /** Which engine runs the operation; the README says when it is graphql-js. */
  readonly engine: 'jit' | 'graphql-js';
  readonly access: unknown;
  /** The status of a success, where the row names one. */
  readonly status: number | undefined;
}

/** What a context factory is told beside the request. */
export interface ContextExtras {
  readonly route: RouteInfo;
  /** For setting response headers; undefined for a WebSocket. */
  readonly response: ServerResponse | undefined;
}

/** What a doorkeeper is told beside the request. */
export interface Arrival {
  /** Template of the rows at the request's path, whatever their method; undefined when no row is there. */
  readonly path: string | undefined;
  /** For setting response headers; undefined for a WebSocket. */
  readonly response: ServerResponse | undefined;
}

/** Lets a request in, or throws. */
export type Admit = (request: IncomingMessage, arrival: Arrival) => unknown;

export type MakeContext = (request: IncomingMessage, access: unknown, extras: ContextExtras) => unknown;

/** What every row has at run time, whatever it is served as. */
export interface Endpoint {
  readonly info: RouteInfo;
  readonly parameters: RowParameters;
  readonly errors: ErrorRenderer;
}

/** A row that answers HTTP requests. */
export interface HttpEndpoint extends Endpoint {
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    input: Mutable<RowInput<unknown>>,
    problems: InputProblem[],
  ) => Promise<void>;
}

export function infoOf({ row, file, operation }: PlannedRow): RouteInfo {
  const { kind, method, path, access } = row;
  const status = row.kind === 'json' && typeof row.status === 'number' ? row.status : undefined;
  return {
    file,
    kind,
    method,
    path,
    operationName: operation.name,
    engine: operation.engine,
    access,
    status,
  };
}

export function endpointFor(plan: PlannedRow, surfaces: readonly Surface[]): Endpoint {
  return {
    info: infoOf(plan),
    parameters: new RowParameters(plan.row, plan.segments),
    errors: plan.row.errors ?? rendererFor(surfaces, plan.row.path),
  };
}

/** How a JSON row is served. */
export function jsonServer(
  row: JsonRow<never>,
  plan: PlannedRow,
  checks: InputChecks,
  maxBodyBytes: number,
  around: Around<unknown> | undefined,
): HttpEndpoint['serve'] {
  const json = {
    row,
    operation: plan.operation,
    readBody: compileBody(row.body, plan.bodyType, checks, maxBodyBytes),
    select: selectOf(row, plan.definition),
    omitNulls: compileNullPolicy(row.nulls, opaquePaths(plan.traced)),
    around,
  };
  return (request, response, input, problems) => serveJson(json, request, response, input, problems);
}

/** How a row of server-sent events is served. */
export function sseServer(row: SseRow<never>, plan: PlannedRow, host: StreamHost): HttpEndpoint['serve'] {
  return (request, response, input, problems) => {
    refuseProblems(problems);
    return serveSse(row, plan.operation, host, request, response, input);
  };
}

/** What a WebSocket row answers to a request without an upgrade (RFC 9110 section 15.5.22). */
export const askForUpgrade: HttpEndpoint['serve'] = (_request, _response, _input, problems) => {
  refuseProblems(problems);
  throw new RequestRefused({ kind: 'upgrade-required', upgrade: 'websocket' });
};
