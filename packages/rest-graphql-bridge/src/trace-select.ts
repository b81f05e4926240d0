import { isSpecifiedScalarType } from 'graphql';
import type { FieldShape, Shape } from './result-shape.js';

/** What a response looks like: parts of the operation's data, and what `select` puts around them. */
export type Traced =
  | {
      readonly kind: 'data';
      readonly shape: Shape;
      readonly nullable: boolean;
      readonly description?: string;
    }
  | { readonly kind: 'record'; readonly properties: ReadonlyMap<string, TracedProperty> }
  | { readonly kind: 'list'; readonly item: Traced }
  | { readonly kind: 'value'; readonly value: string | number | boolean | null };

export interface TracedProperty {
  readonly traced: Traced;
  readonly always: boolean;
}

class Untraceable extends Error {}

/**
 * Follows what a row's function takes from a result, by handing it a stand-in that remembers each step. Property access,
 * optional chaining, spread and `map` are followed, and of a condition the branch where the value is there.
 * @returns undefined when it does something else with the data, such as arithmetic.
 */
export function traceSelect(shape: Shape, select: (result: unknown) => unknown): Traced | undefined {
  const tracer = new Tracer();
  try {
    return tracer.read(
      select(tracer.standIn({ shape, nullable: false, always: true, description: undefined })),
    );
  } catch {
    // A select that can't cope with a stand-in throws errors of its own: not a fault of the row.
    return undefined;
  }
}

class Tracer {
  readonly #known = new WeakMap<object, Traced>();
  /** Stand-ins reached through something that may be null, so that the property may be missing. */
  readonly #unsure = new WeakSet<object>();

  standIn(field: FieldShape, unsure = false): object {
    const { shape, nullable, description } = field;
    const standIn =
      shape.kind === 'list' ? this.#list(shape, unsure) : this.#object(shape, unsure || nullable);
    const traced = { kind: 'data', shape, nullable } as const;
    this.#known.set(standIn, description === undefined ? traced : { ...traced, description });
    if (unsure || !field.always) this.#unsure.add(standIn);
    return standIn;
  }

  read(value: unknown): Traced {
    if (typeof value === 'object' && value !== null) return this.#known.get(value) ?? this.#readOwn(value);
    if (
      value === null ||
      typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'boolean'
    ) {
      return { kind: 'value', value };
    }
    throw new Untraceable();
  }

  #readOwn(value: object): Traced {
    if (Array.isArray(value)) {
      if (value.length !== 1) throw new Untraceable();
      return { kind: 'list', item: this.read(value[0]) };
    }
    const properties = new Map<string, TracedProperty>();
    for (const [name, part] of Object.entries(value)) {
      if (part === undefined) continue;
      const always = typeof part !== 'object' || part === null || !this.#unsure.has(part);
      properties.set(name, { traced: this.read(part), always });
    }
    return { kind: 'record', properties };
  }

  #object(shape: Shape, unsure: boolean): object {
    const part = (key: string | symbol) => {
      const field = typeof key === 'string' && shape.kind === 'object' ? shape.fields.get(key) : undefined;
      if (!field) throw new Untraceable();
      return this.standIn(field, unsure);
    };
    return new Proxy(
      {},
      {
        get: (_target, key) => part(key),
        ownKeys: () => (shape.kind === 'object' ? [...shape.fields.keys()] : []),
        getOwnPropertyDescriptor: (_target, key) => ({
          value: part(key),
          enumerable: true,
          configurable: true,
        }),
      },
    );
  }

  #list(shape: Shape & { kind: 'list' }, unsure: boolean): object {
    const item = () =>
      this.standIn(
        { shape: shape.item, nullable: shape.itemNullable, always: true, description: undefined },
        unsure,
      );
    return new Proxy(
      {},
      {
        get: (_target, key) => {
          if (key === 'length') return 1;
          if (key !== 'map') throw new Untraceable();
          return (each: (item: unknown, at: number) => unknown) => [each(item(), 0)];
        },
      },
    );
  }
}

/** The response paths of custom scalars: what is inside them is data that no null policy may touch. */
export function opaquePaths(traced: Traced | undefined): readonly string[] {
  const found: string[] = [];
  if (traced) {
    walk(traced, '', (path, shape) => {
      if (shape.kind === 'leaf' && !isSpecifiedScalarType(shape.type)) found.push(path);
    });
  }
  return found;
}

/** All response paths, lists counted by their own. */
export function responsePaths(traced: Traced): ReadonlySet<string> {
  const paths = new Set<string>();
  walk(traced, '', (path) => paths.add(path));
  return paths;
}

type Visit = (path: string, shape: Shape | Traced) => void;

function walk(traced: Traced, path: string, visit: Visit): void {
  if (traced.kind === 'data') {
    walkShape(traced.shape, path, visit);
  } else if (traced.kind === 'list') {
    walk(traced.item, path, visit);
  } else {
    visit(path, traced);
    const properties = traced.kind === 'record' ? traced.properties : [];
    for (const [name, property] of properties) walk(property.traced, below(path, name), visit);
  }
}

function walkShape(shape: Shape, path: string, visit: Visit): void {
  if (shape.kind === 'list') {
    walkShape(shape.item, path, visit);
    return;
  }
  visit(path, shape);
  if (shape.kind !== 'object') return;
  for (const [name, field] of shape.fields) walkShape(field.shape, below(path, name), visit);
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
