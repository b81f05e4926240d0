/** A path template taken apart: literal segments as strings, parameters by name. */
export type Segment = { readonly literal: string } | { readonly name: string };

const PARAMETER = /^:([A-Za-z_]\w*)$/;

/** @throws Error with the reason when the template is not one this router can match. */
export function parsePath(path: string): readonly Segment[] {
  if (!path.startsWith('/')) throw new Error('the path must start with /');
  if (path !== '/' && path.endsWith('/')) throw new Error('the path must not end with /');
  if (path === '/') return [];
  return path
    .slice(1)
    .split('/')
    .map((part) => parseSegment(part));
}

function parseSegment(part: string): Segment {
  const name = PARAMETER.exec(part)?.[1];
  if (name !== undefined) return { name };
  if (part === '') throw new Error('the path has an empty segment');
  if (/[:*?#{}()]/.test(part)) throw new Error(`segment "${part}" is neither literal nor :name`);
  return { literal: part };
}

export function parameterNames(segments: readonly Segment[]): readonly string[] {
  return segments.flatMap((segment) => ('name' in segment ? [segment.name] : []));
}

/** The path without its parameters' names: two rows with the same shape and method collide. */
export function pathShape(segments: readonly Segment[]): string {
  return `/${segments.map((segment) => ('name' in segment ? ':' : segment.literal)).join('/')}`;
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  value: T | undefined;
}

export interface Match<T> {
  readonly value: T;
  /** Raw (still percent-encoded) parameter values in the order of the path. */
  readonly captured: readonly string[];
}

/**
 * Finds the value stored for a path. A literal segment beats a parameter at the same place, whatever the order of
 * insertion; when the literal branch leads nowhere the parameter branch is tried.
 */
export class PathTrie<T> {
  readonly #root: Node<T> = { literals: new Map(), parameter: undefined, value: undefined };

  /** The value at a path's shape, made by `create` when the place is empty. */
  place(segments: readonly Segment[], create: () => T): T {
    let node = this.#root;
    for (const segment of segments) node = this.#step(node, segment);
    node.value ??= create();
    return node.value;
  }

  #step(node: Node<T>, segment: Segment): Node<T> {
    const fresh: Node<T> = { literals: new Map(), parameter: undefined, value: undefined };
    if ('name' in segment) {
      node.parameter ??= fresh;
      return node.parameter;
    }
    const known = node.literals.get(segment.literal);
    if (known) return known;
    node.literals.set(segment.literal, fresh);
    return fresh;
  }

  /** `path` has no query string. One trailing slash is tolerated. */
  find(path: string): Match<T> | undefined {
    const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
    const captured: string[] = [];
    const value = this.#walk(this.#root, path, 1, end, captured);
    return value === undefined ? undefined : { value, captured };
  }

  #walk(node: Node<T>, path: string, from: number, end: number, captured: string[]): T | undefined {
    if (from > end || end <= 1) return node.value;
    const slash = path.indexOf('/', from);
    const to = slash < 0 || slash > end ? end : slash;
    const segment = path.slice(from, to);
    const literal = node.literals.get(segment);
    if (literal) {
      const value = this.#walk(literal, path, to + 1, end, captured);
      if (value !== undefined) return value;
    }
    if (!node.parameter || segment === '') return undefined;
    captured.push(segment);
    const value = this.#walk(node.parameter, path, to + 1, end, captured);
    if (value === undefined) captured.pop();
    return value;
  }
}
