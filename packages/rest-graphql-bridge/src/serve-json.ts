import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ExecutionResult,
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
  isNonNullType,
} from 'graphql';
import { type InputProblem, RequestRefused } from './failure.js';
import { bodyProblem, type InputChecks, isPlainObject } from './input-check.js';
import { isPromise } from './is-promise.js';
import { receiveMultipart } from './multipart.js';
import type { Operation } from './operation.js';
import { checkMediaType, decodeText, hasBody, parseJson, readBytes } from './request-body.js';
import { refuseProblems } from './request-parameters.js';
import { sendJson, sendText } from './respond.js';
import type { BodyOptions, BodyType, JsonRow, RowInput } from './row.js';
import { givenVariables, type Mutable } from './row-input.js';

type ReadBody = (
  request: IncomingMessage,
  response: ServerResponse,
  input: Mutable<RowInput<unknown>>,
  problems: InputProblem[],
) => Promise<void>;

/** What a JSON row answers with; a text row's body is a string, undefined sends none. */
export interface RowAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly body: unknown;
}

/** A request of a JSON row, read and checked, before its operation runs. */
export interface RowCall<C> {
  readonly request: IncomingMessage;
  readonly context: C;
  /** As the client sent it, without the fields the row drops and with the defaults of its input type. */
  readonly body: unknown;
}

/** Stands around a row's operation: runs it, or answers in its place. What it throws is rendered as `thrown`. */
export type Around<C> = (call: RowCall<C>, run: () => Promise<RowAnswer>) => Promise<RowAnswer>;

export interface JsonPlan {
  readonly row: JsonRow<never>;
  readonly operation: Operation;
  /** Undefined when the row takes no body. */
  readonly readBody: ReadBody | undefined;
  readonly select: (data: unknown) => unknown;
  readonly omitNulls: ((value: unknown) => unknown) | undefined;
  readonly around: Around<unknown> | undefined;
}

/** Runs a row whose parameters have been read and writes its answer. */
export async function serveJson(
  plan: JsonPlan,
  request: IncomingMessage,
  response: ServerResponse,
  input: Mutable<RowInput<unknown>>,
  problems: InputProblem[],
): Promise<void> {
  if (plan.readBody) await plan.readBody(request, response, input, problems);
  refuseProblems(problems);
  const variables = plan.operation.prepare(givenVariables(plan.row, input));
  const run = () => plan.operation.run(undefined, input.context, variables);
  if (plan.around) {
    const call = { request, context: input.context, body: input.body };
    send(plan, request, response, await plan.around(call, async () => answerOf(plan, await run())));
    return;
  }
  const running = run();
  // Not awaited when it is no promise: a turn of the microtask queue costs more than a small operation.
  send(plan, request, response, answerOf(plan, isPromise(running) ? await running : running));
}

function answerOf({ row, select, omitNulls }: JsonPlan, { data, errors }: ExecutionResult): RowAnswer {
  if (errors) throw new RequestRefused({ kind: 'graphql', errors });
  const type = row.response ?? 'json';
  const byDefault = type === 'none' ? 204 : 200;
  const status = typeof row.status === 'function' ? row.status(data) : (row.status ?? byDefault);
  const headers = row.responseHeaders?.(data);
  const body = type === 'none' ? undefined : select(data);
  return { status, headers, body: type !== 'text' && omitNulls ? omitNulls(body) : body };
}

function send(
  { row }: JsonPlan,
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: RowAnswer,
): void {
  if (row.response !== 'text') sendJson(request, response, status, body, headers);
  else if (typeof body === 'string') sendText(request, response, status, body, headers);
  else throw new TypeError(`${row.method} ${row.path} answers text, but selected ${typeof body}`);
}

/** The body type a row means when it doesn't say: JSON as soon as a variable is named. */
export function bodyTypeOf(body: BodyOptions | undefined): BodyType {
  return body === undefined ? 'none' : (body.type ?? 'json');
}

/**
 * Compiles how a row's body is read. An absent body is never refused for its content type: it is checked like `{}`,
 * so the required fields are named.
 */
export function compileBody(
  options: BodyOptions | undefined,
  variableType: GraphQLInputType | undefined,
  checks: InputChecks,
  maxBodyBytes: number,
): ReadBody | undefined {
  const type = bodyTypeOf(options);
  if (options === undefined || type === 'none') return undefined;
  const limitBytes = options.limitBytes ?? maxBodyBytes;
  if (type === 'multipart') return receiveMultipart(options, limitBytes);
  const check = type === 'json' && variableType ? checks.of(variableType) : undefined;
  const whenAbsent = absentBody(options, variableType, type);
  return async (request, _response, input, problems) => {
    if (!hasBody(request)) {
      input.body = whenAbsent();
      if (options.optional && input.body === undefined) return;
    } else {
      checkMediaType(request, type);
      const bytes = await readBytes(request, limitBytes);
      if (bytes.length === 0) input.body = whenAbsent();
      else input.body = type === 'text' ? decodeText(bytes) : parseJson(bytes);
    }
    if (options.readOnly) dropFields(input.body, options.readOnly);
    if (check) check(input.body, [], problems);
    else if (input.body === undefined && !options.optional)
      problems.push(bodyProblem([], 'isDefined', 'is required'));
  };
}

function absentBody(
  options: BodyOptions,
  variableType: GraphQLInputType | undefined,
  type: BodyType,
): () => unknown {
  if (options.optional || type !== 'json' || !isNonNullType(variableType)) return () => undefined;
  return isInputObjectType(getNullableType(variableType)) ? () => ({}) : () => undefined;
}

function dropFields(body: unknown, names: readonly string[]): void {
  for (const value of Array.isArray(body) ? body : [body]) {
    if (!isPlainObject(value)) continue;
    for (const name of names) delete value[name];
  }
}
