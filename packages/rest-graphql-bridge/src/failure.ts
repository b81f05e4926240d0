import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';

/** Where a refused value was found. */
export type InputPlace = 'body' | 'query' | 'path' | 'header';

/** One thing wrong with one value of a request. A failed request lists all of them at once. */
export interface InputProblem {
  /** Keys and list positions from the top of the body, or the parameter's name alone. */
  readonly path: readonly (string | number)[];
  /** The same path joined with dots; the GraphQL variable's name is not part of it. */
  readonly field: string;
  /** Stable machine word, e.g. isDefined, isInt, whitelistValidation, max. */
  readonly constraint: string;
  readonly message: string;
  readonly in: InputPlace;
}

/** Everything that can go wrong between a request's arrival and its answer. The union is closed. */
export type Failure =
  | { readonly kind: 'input'; readonly problems: readonly InputProblem[] }
  | { readonly kind: 'malformed-body'; readonly message: string }
  | { readonly kind: 'unsupported-media-type'; readonly received: string; readonly expected: string }
  | { readonly kind: 'body-too-large'; readonly limitBytes: number }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'method-not-allowed'; readonly allow: string }
  | { readonly kind: 'upgrade-required'; readonly upgrade: string }
  | { readonly kind: 'graphql'; readonly errors: readonly GraphQLError[] }
  | { readonly kind: 'thrown'; readonly error: unknown };

/**
 * What a failure looks like on the wire. A string body is sent as it is, anything else as JSON;
 * an undefined body is an empty one.
 */
export interface RenderedFailure {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly body?: unknown;
}

/** Turns a failure into a status, headers and body: one per surface, or one for a single row. */
export interface ErrorRenderer {
  render(failure: Failure, request: IncomingMessage): RenderedFailure;
}

/** Thrown inside the bridge to leave a request early with a known failure. */
export class RequestRefused extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.kind);
    this.name = 'RequestRefused';
    this.failure = failure;
  }
}

/** Names what was caught: a refusal keeps its failure, everything else was thrown by somebody else's code. */
export function failureOf(error: unknown): Failure {
  return error instanceof RequestRefused ? error.failure : { kind: 'thrown', error };
}

const PLAIN: { readonly [K in Failure['kind']]: { readonly status: number; readonly error: string } } = {
  input: { status: 400, error: 'invalid input' },
  'malformed-body': { status: 400, error: 'malformed body' },
  'unsupported-media-type': { status: 415, error: 'unsupported media type' },
  'body-too-large': { status: 413, error: 'body too large' },
  'not-found': { status: 404, error: 'not found' },
  'method-not-allowed': { status: 405, error: 'method not allowed' },
  'upgrade-required': { status: 426, error: 'upgrade required' },
  graphql: { status: 500, error: 'internal error' },
  thrown: { status: 500, error: 'internal error' },
};

/** Used where no surface brings its own renderer. Never echoes the message of an error it did not make. */
export const plainErrors: ErrorRenderer = {
  render(failure) {
    const { status, error } = PLAIN[failure.kind];
    return { status, body: failure.kind === 'input' ? { error, problems: failure.problems } : { error } };
  },
};
