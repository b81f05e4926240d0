import type { IncomingHttpHeaders } from 'node:http';
import { type InputPlace, type InputProblem, RequestRefused } from './failure.js';
import { MAX_PROBLEMS } from './input-check.js';
import type { Param } from './param.js';
import type { ParamTable } from './row.js';

export type Values = { readonly [name: string]: unknown };

/** Node's own bound on a header block is 16 KiB; this one keeps a long query from becoming a thousand entries. */
const MAX_QUERY_PARTS = 1000;

function problem(place: InputPlace, name: string, constraint: string, text: string): InputProblem {
  return { path: [name], field: name, constraint, message: `${name} ${text}`, in: place };
}

function decode(raw: string): string | undefined {
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

function readOne(
  place: InputPlace,
  name: string,
  param: Param<unknown>,
  raw: string,
  problems: InputProblem[],
) {
  const { value, refusal } = param.read(raw);
  if (refusal) problems.push(problem(place, name, refusal.constraint, refusal.message));
  return value;
}

/** Decodes and parses what the path captured, in the order of the path's names. */
export function readPath(
  names: readonly string[],
  captured: readonly string[],
  table: ParamTable,
  problems: InputProblem[],
): Values {
  const values: { [name: string]: unknown } = {};
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] ?? '';
    const raw = decode(captured[at] ?? '');
    const param = table[name];
    if (raw === undefined)
      problems.push(problem('path', name, 'isPercentEncoded', 'is not valid percent-encoding'));
    else values[name] = param ? readOne('path', name, param, raw, problems) : raw;
  }
  return values;
}

/** Splits a query string (without `?`) as application/x-www-form-urlencoded; a broken escape is a problem. */
export function splitQuery(search: string, problems: InputProblem[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  const parts = search.split('&', MAX_QUERY_PARTS);
  for (const part of parts) {
    if (part === '') continue;
    const plain = part.includes('+') ? part.replaceAll('+', ' ') : part;
    const equals = plain.indexOf('=');
    const rawName = equals < 0 ? plain : plain.slice(0, equals);
    const name = decode(rawName);
    const value = equals < 0 ? '' : decode(plain.slice(equals + 1));
    if (name === undefined || value === undefined) {
      if (problems.length >= MAX_PROBLEMS) break;
      problems.push(problem('query', name ?? rawName, 'isPercentEncoded', 'is not valid percent-encoding'));
      continue;
    }
    const values = found.get(name);
    if (values) values.push(value);
    else found.set(name, [value]);
  }
  return found;
}

/** Reads a table of query or header parameters. Compiled once per row. */
export class ParameterReader {
  readonly #place: InputPlace;
  readonly #entries: readonly (readonly [string, Param<unknown>])[];
  readonly #known: ReadonlySet<string>;
  readonly #refuseUnknown: boolean;
  /** The values of a request that brings none, made once: most requests have no query string. */
  readonly #whenEmpty: Values | undefined;

  constructor(
    place: InputPlace,
    table: ParamTable,
    alsoKnown: readonly string[] = [],
    refuseUnknown = false,
  ) {
    this.#place = place;
    this.#entries = Object.entries(table);
    this.#known = new Set([...Object.keys(table), ...alsoKnown]);
    this.#refuseUnknown = refuseUnknown;
    const required = this.#entries.some(([, param]) => param.required && param.fallback === undefined);
    this.#whenEmpty = required ? undefined : Object.freeze(this.#read(() => undefined, []));
  }

  readQuery(search: string, problems: InputProblem[]): Values {
    if (search === '' && this.#whenEmpty) return this.#whenEmpty;
    const found = splitQuery(search, problems);
    if (this.#refuseUnknown) {
      for (const name of found.keys()) {
        if (this.#known.has(name)) continue;
        if (problems.length >= MAX_PROBLEMS) break;
        problems.push(problem('query', name, 'whitelistValidation', 'is not allowed'));
      }
    }
    return this.#read((name) => found.get(name), problems);
  }

  readHeaders(headers: IncomingHttpHeaders, problems: InputProblem[]): Values {
    if (this.#entries.length === 0 && this.#whenEmpty) return this.#whenEmpty;
    return this.#read((name) => {
      const value = headers[name.toLowerCase()];
      return value === undefined ? undefined : Array.isArray(value) ? value : [value];
    }, problems);
  }

  #read(valuesOf: (name: string) => readonly string[] | undefined, problems: InputProblem[]): Values {
    const values: { [name: string]: unknown } = {};
    for (const [name, param] of this.#entries) {
      const given = valuesOf(name);
      if (given === undefined) {
        if (param.fallback !== undefined) values[name] = param.fallback;
        else if (param.required) problems.push(problem(this.#place, name, 'isDefined', 'is required'));
      } else if (given.length > 1 && !param.isList) {
        problems.push(problem(this.#place, name, 'isSingle', 'must be given once'));
      } else {
        values[name] = readOne(this.#place, name, param, given.join(','), problems);
      }
    }
    return values;
  }
}

/** @throws RequestRefused with every problem found so far. */
export function refuseProblems(problems: readonly InputProblem[]): void {
  if (problems.length > 0) throw new RequestRefused({ kind: 'input', problems });
}
