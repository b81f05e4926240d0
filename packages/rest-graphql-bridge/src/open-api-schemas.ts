import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { fieldDefault } from './input-default.js';
import { decisionAt, type PolicyStep, type PolicyTree } from './null-policy.js';
import type { SchemaObject } from './param.js';
import type { FieldShape, Shape } from './result-shape.js';
import type { Traced } from './trace-select.js';

/** JSON Schemas of scalars by name; an unknown custom scalar is any value. */
export type ScalarSchemas = { readonly [scalar: string]: SchemaObject };

const SCALARS: ScalarSchemas = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number', format: 'double' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  Date: { type: 'string', format: 'date' },
  UUID: { type: 'string', format: 'uuid' },
  EmailAddress: { type: 'string', format: 'email' },
  URL: { type: 'string', format: 'uri' },
  BigInt: { type: 'integer', format: 'int64' },
  JSON: {},
  JSONObject: { type: 'object' },
};

type Fields = { [name: string]: SchemaObject };

/** Turns GraphQL types into JSON Schemas; named types become components, once each. */
export class OpenApiSchemas {
  readonly #scalars: ScalarSchemas;
  readonly #components = new Map<string, SchemaObject>();
  readonly #owners = new Map<string, object>();

  constructor(scalars: ScalarSchemas) {
    this.#scalars = { ...SCALARS, ...scalars };
  }

  /** Sorted by name, so that the order of rows does not change the document. */
  get components(): Fields {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /**
   * Refers to the component of `owner`, made when it is met first. A name that another owner has gets a number, since a
   * schema may well have a type called Error.
   */
  component(name: string, owner: object, make: () => SchemaObject): SchemaObject {
    let free = name;
    for (let at = 2; (this.#owners.get(free) ?? owner) !== owner; at += 1) free = `${name}_${at}`;
    if (!this.#owners.has(free)) {
      // Entered first, since an input type may contain itself.
      this.#owners.set(free, owner);
      this.#components.set(free, make());
    }
    return { $ref: `#/components/schemas/${free}` };
  }

  input(type: GraphQLInputType): SchemaObject {
    if (isNonNullType(type)) return this.#inputPresent(type.ofType);
    return nullable(this.#inputPresent(type));
  }

  #inputPresent(type: GraphQLInputType): SchemaObject {
    if (isListType(type)) return { type: 'array', items: this.input(type.ofType) };
    if (isInputObjectType(type)) return this.component(type.name, type, () => this.#inputObject(type));
    return this.leaf(type as GraphQLScalarType | GraphQLEnumType);
  }

  #inputObject(type: GraphQLInputObjectType): SchemaObject {
    const properties: Fields = {};
    const required: string[] = [];
    for (const field of Object.values(type.getFields())) {
      const fallback = fieldDefault(field);
      properties[field.name] = annotated(this.input(field.type), field.description, fallback);
      if (isNonNullType(field.type) && fallback === undefined) required.push(field.name);
    }
    const schema = { ...objectSchema(properties, required), additionalProperties: false };
    return annotated(
      type.isOneOf ? { ...schema, minProperties: 1, maxProperties: 1 } : schema,
      type.description,
    );
  }

  leaf(type: GraphQLScalarType | GraphQLEnumType): SchemaObject {
    if (!isEnumType(type)) return this.#scalars[type.name] ?? {};
    return this.component(type.name, type, () =>
      annotated({ type: 'string', enum: type.getValues().map((value) => value.name) }, type.description),
    );
  }

  /** The schema of a response, with nulls as the row's policy leaves them. */
  response(traced: Traced, tree: PolicyTree, step: PolicyStep | undefined = tree.root): SchemaObject {
    if (traced.kind === 'value')
      return traced.value === null ? { type: 'null' } : { type: typeof traced.value };
    if (traced.kind === 'list') return { type: 'array', items: this.response(traced.item, tree, step) };
    if (traced.kind === 'data') {
      const schema = this.#data(traced.shape, tree, step);
      return annotated(traced.nullable ? nullable(schema) : schema, traced.description);
    }
    const properties: Fields = {};
    const required: string[] = [];
    for (const [name, { traced: part, always }] of traced.properties) {
      const next = step?.below.get(name);
      const omitted = part.kind === 'data' && part.nullable && decisionAt(tree, next) === 'omit';
      properties[name] = this.response(omitted ? { ...part, nullable: false } : part, tree, next);
      if (always && !omitted) required.push(name);
    }
    return objectSchema(properties, required);
  }

  #data(shape: Shape, tree: PolicyTree, step: PolicyStep | undefined): SchemaObject {
    if (shape.kind === 'leaf') return this.leaf(shape.type);
    if (shape.kind === 'list') {
      const items = this.#data(shape.item, tree, step);
      return { type: 'array', items: shape.itemNullable ? nullable(items) : items };
    }
    const properties: Fields = {};
    const required: string[] = [];
    for (const [name, field] of shape.fields) {
      const next = step?.below.get(name);
      const omitted = field.nullable && decisionAt(tree, next) === 'omit';
      properties[name] = this.#property(field, omitted, tree, next);
      if (field.always && !omitted) required.push(name);
    }
    return objectSchema(properties, required);
  }

  #property(
    field: FieldShape,
    omitted: boolean,
    tree: PolicyTree,
    step: PolicyStep | undefined,
  ): SchemaObject {
    const schema = this.#data(field.shape, tree, step);
    return annotated(field.nullable && !omitted ? nullable(schema) : schema, field.description);
  }
}

export function objectSchema(properties: Fields, required: readonly string[]): SchemaObject {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** JSON Schema 2020-12 has no `nullable`: null is one more type. */
function nullable(schema: SchemaObject): SchemaObject {
  const { type } = schema;
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] };
  // Without a type any value is allowed already, null included.
  return '$ref' in schema ? { anyOf: [schema, { type: 'null' }] } : schema;
}

function annotated(
  schema: SchemaObject,
  description: string | null | undefined,
  fallback?: unknown,
): SchemaObject {
  return {
    ...schema,
    ...(description ? { description } : {}),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}
