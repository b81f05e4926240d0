import type { IncomingMessage } from 'node:http';
import type { InputProblem } from './failure.js';
import { parameterNames, type Segment } from './path-trie.js';
import type { Variables } from './prepare-variables.js';
import { ParameterReader, readPath, splitQuery, type Values } from './request-parameters.js';
import type { Row, RowInput } from './row.js';

/** Reads a row's path, query and header parameters. */
export class RowParameters {
  readonly #row: Row<never>;
  readonly #names: readonly string[];
  readonly #query: ParameterReader;
  readonly #headers: ParameterReader;

  constructor(row: Row<never>, segments: readonly Segment[]) {
    this.#row = row;
    this.#names = parameterNames(segments);
    const resumes = row.kind === 'json' ? [] : ['lastEventId'];
    this.#query = new ParameterReader('query', row.query, resumes, row.unknownQuery === 'refuse');
    this.#headers = new ParameterReader('header', row.headers);
  }

  /** Adds what is wrong to `problems`; the values only count when nothing was added. */
  read<C>(
    request: IncomingMessage,
    captured: readonly string[],
    search: string,
    context: C,
    problems: InputProblem[],
  ): Mutable<RowInput<C>> {
    const params: Values =
      this.#names.length === 0 ? NO_VALUES : readPath(this.#names, captured, this.#row.params, problems);
    return {
      params,
      query: this.#query.readQuery(search, problems),
      headers: this.#headers.readHeaders(request.headers, problems),
      body: undefined,
      file: undefined,
      lastEventId: this.#row.kind === 'json' ? undefined : lastEventId(request, search),
      context,
    };
  }
}

/** What a row's own function makes of its input. Without one the body fills its variable. */
export function givenVariables(row: Row<never>, input: RowInput<unknown>): Variables {
  // The row was typed for the host's own context, which `createBridge` has checked against the table.
  const variables = row.variables as ((input: RowInput<unknown>) => Variables) | undefined;
  if (variables) return variables(input);
  const bodyVariable = row.kind === 'json' ? row.body?.variable : undefined;
  return bodyVariable === undefined ? {} : { [bodyVariable]: input.body };
}

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const NO_VALUES: Values = Object.freeze({});

/** EventSource sends the header when it reconnects by itself; a page that starts anew can only use the query. */
function lastEventId(request: IncomingMessage, search: string): string | undefined {
  const header = request.headers['last-event-id'];
  if (typeof header === 'string' && header !== '') return header;
  if (!search.includes('lastEventId')) return undefined;
  const value = splitQuery(search, []).get('lastEventId')?.[0];
  return value === '' ? undefined : value;
}
