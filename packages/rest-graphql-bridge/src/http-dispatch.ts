import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admit, Endpoint, HttpEndpoint, MakeContext } from './endpoint.js';
import { type ErrorRenderer, failureOf, type InputProblem } from './failure.js';
import { isPromise } from './is-promise.js';
import { type Match, PathTrie, type Segment } from './path-trie.js';
import { pathOf, searchOf } from './request-url.js';
import { type OnUnexpected, send, sendFailure } from './respond.js';
import type { RowInput } from './row.js';
import type { Mutable } from './row-input.js';
import { type Surface, surfaceOf } from './surface.js';

interface Place {
  readonly path: string;
  readonly methods: { [method: string]: HttpEndpoint | undefined };
  allow: string;
  readonly errors: ErrorRenderer;
}

/** Finds the row for an HTTP request and answers it, with a failure when there is none or it fails. */
export class HttpDispatch {
  readonly #trie = new PathTrie<Place>();
  readonly #surfaces: readonly Surface[];
  readonly #makeContext: MakeContext;
  readonly #admit: Admit | undefined;
  readonly #tell: OnUnexpected;

  constructor(
    surfaces: readonly Surface[],
    makeContext: MakeContext,
    admit: Admit | undefined,
    tell: OnUnexpected,
  ) {
    this.#surfaces = surfaces;
    this.#makeContext = makeContext;
    this.#admit = admit;
    this.#tell = tell;
  }

  add(segments: readonly Segment[], endpoint: HttpEndpoint): void {
    const { method, kind, path } = endpoint.info;
    const { errors } = endpoint;
    const place = this.#trie.place(segments, () => ({ path, methods: {}, allow: '', errors }));
    // A row that answers plain HTTP may have the path of a WebSocket as well.
    if (kind === 'webSocket') place.methods[method] ??= endpoint;
    else place.methods[method] = endpoint;
    // A stream has no HEAD: its status is only known once it is open.
    if (method === 'GET' && kind === 'json') place.methods.HEAD = endpoint;
    place.allow = [...Object.keys(place.methods), 'OPTIONS'].sort().join(', ');
  }

  handle(request: IncomingMessage, response: ServerResponse, next: () => void): void {
    const path = pathOf(request);
    const match = this.#trie.find(path);
    const errors = match?.value.errors ?? surfaceOf(this.#surfaces, path)?.errors;
    if (!errors) {
      next();
      return;
    }
    const refuse = (error: unknown) => sendFailure(request, response, failureOf(error), errors, this.#tell);
    try {
      const admitting = this.#admit?.(request, { path: match?.value.path, response });
      if (isPromise(admitting)) {
        admitting.then(() => this.#serve(match, errors, request, response), refuse);
      } else this.#serve(match, errors, request, response);
    } catch (error) {
      refuse(error);
    }
  }

  #serve(
    match: Match<Place> | undefined,
    errors: ErrorRenderer,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (!match) {
      sendFailure(request, response, { kind: 'not-found' }, errors, this.#tell);
      return;
    }
    const { methods, allow } = match.value;
    const method = request.method ?? 'GET';
    const endpoint = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (endpoint) void this.#answer(endpoint, request, response, match.captured);
    else if (method === 'OPTIONS') send(request, response, 204, { allow }, undefined);
    else sendFailure(request, response, { kind: 'method-not-allowed', allow }, errors, this.#tell);
  }

  async #answer(
    endpoint: HttpEndpoint,
    request: IncomingMessage,
    response: ServerResponse,
    captured: readonly string[],
  ): Promise<void> {
    try {
      const problems: InputProblem[] = [];
      const input = await readInput(endpoint, this.#makeContext, request, response, captured, problems);
      await endpoint.serve(request, response, input, problems);
    } catch (error) {
      sendFailure(request, response, failureOf(error), endpoint.errors, this.#tell);
    }
  }
}

/** The context is made first: who may not ask is not told what was wrong with the question. */
export async function readInput(
  endpoint: Endpoint,
  makeContext: MakeContext,
  request: IncomingMessage,
  response: ServerResponse | undefined,
  captured: readonly string[],
  problems: InputProblem[],
): Promise<Mutable<RowInput<unknown>>> {
  const making = makeContext(request, endpoint.info.access, { route: endpoint.info, response });
  const context = isPromise(making) ? await making : making;
  return endpoint.parameters.read(request, captured, searchOf(request), context, problems);
}
