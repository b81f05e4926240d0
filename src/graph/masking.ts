import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isUnionType,
} from 'graphql';
import type { RequestContext } from '../context.js';
import { platformAllows } from '../domain/identity/index.js';
import { type Mask, maskOf } from '../entities/masked.js';
import { AppError, invalidField } from '../errors.js';
import { maskText } from '../masking/mask-text.js';
import { maskRecord, maskValue } from '../masking/mask-value.js';
import { findSentinel } from '../masking/sentinel.js';
import { type Requirement, requirementOf } from '../resolvers/permission.js';

type Field = GraphQLField<unknown, RequestContext>;
type Resolver = GraphQLFieldResolver<unknown, RequestContext>;

/** Scalars that can carry a person's data as text. */
const MASKABLE = new Set(['String', 'JSON', 'JSONObject']);
/** Ids, times, numbers and addresses of our own: never masked. */
const PLAIN = new Set(['ID', 'UUID', 'DateTime', 'Boolean', 'Int', 'Float', 'SafeInt']);

export interface TextField {
  readonly name: string;
  readonly field: Field;
}

/** The String, JSON and JSONObject fields that answers of the platform are made of. */
export function platformTextFields(schema: GraphQLSchema): TextField[] {
  return platformFields(schema).filter(({ field }) => MASKABLE.has(getNamedType(field.type).name));
}

/**
 * Masks personal data where the value is read, so that REST, GraphQL, SSE and WebSocket answers all are. Fields of types
 * that only ITSM answers use stay untouched: /v1 is never masked.
 */
export function maskPlatform(schema: GraphQLSchema): void {
  const fields = platformFields(schema);
  for (const { field } of fields) {
    // Before the mask: reading a plain property can't fail, and a page of them need not be guarded one by one.
    if (field.resolve) field.resolve = withMaskedErrors(field.resolve);
    if (field.subscribe) field.subscribe = withMaskedErrors(field.subscribe);
    if (MASKABLE.has(getNamedType(field.type).name)) maskAnswer(field, maskOf(field) ?? 'always');
  }
  for (const { field } of rootFields(schema, 'platform')) {
    if (schema.getMutationType()?.getFields()[field.name] !== field || !field.resolve) continue;
    field.resolve = refusingSentinel(field.resolve);
  }
}

/** What would be masked wrongly or not at all. */
export function maskingProblems(schema: GraphQLSchema): string[] {
  const itsm = new Set(reachableTypes(schema, rootFields(schema, 'itsm')));
  return platformFields(schema).flatMap(({ name, field, owner }) => {
    const type = getNamedType(field.type);
    if (!isLeafType(type) || isEnumType(type) || PLAIN.has(type.name)) return [];
    if (!MASKABLE.has(type.name)) {
      return [
        `${name} is a ${type.name}: make it a String, or say in src/graph/masking.ts that it is no text.`,
      ];
    }
    if (itsm.has(owner))
      return [`${name} is text that /v1 shows as well: give each surface a type of its own.`];
    return [];
  });
}

interface OwnedField extends TextField {
  readonly owner: GraphQLNamedType;
}

function rootFields(schema: GraphQLSchema, surface: 'itsm' | 'platform'): OwnedField[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return roots
    .flatMap((type) => (type ? fieldsOf(type) : []))
    .filter(({ field }) => surface in (requirementOf(field) ?? ({} as Requirement)));
}

function platformFields(schema: GraphQLSchema): OwnedField[] {
  const roots = rootFields(schema, 'platform');
  return [...roots, ...reachableTypes(schema, roots).filter(isObjectType).flatMap(fieldsOf)];
}

function fieldsOf(type: GraphQLObjectType): OwnedField[] {
  return Object.values(type.getFields()).map((field) => ({
    name: `${type.name}.${field.name}`,
    field,
    owner: type,
  }));
}

function reachableTypes(schema: GraphQLSchema, roots: readonly OwnedField[]): GraphQLNamedType[] {
  const seen = new Set<GraphQLNamedType>();
  const open: GraphQLNamedType[] = roots.map(({ field }) => getNamedType(field.type));
  for (let type = open.pop(); type; type = open.pop()) {
    if (seen.has(type)) continue;
    seen.add(type);
    if (isUnionType(type)) open.push(...type.getTypes());
    if (isInterfaceType(type)) open.push(...schema.getPossibleTypes(type));
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) open.push(getNamedType(field.type));
  }
  return [...seen];
}

function maskAnswer(field: Field, mask: Mask): void {
  if (mask === 'never') return;
  const read: Resolver = field.resolve ?? readerOf(field.name);
  field.resolve = (source, args, context, info) => {
    const value: unknown = read(source, args, context, info);
    if (mask === 'config' && mayWrite(context)) return value;
    if (typeof value === 'string') return maskText(value);
    return isPromise(value) ? value.then(maskValue) : maskValue(value);
  };
}

/** Not `instanceof Promise`: tests have a realm of their own. */
function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** A field without a resolver is the property of its name. */
function readerOf(name: string): Resolver {
  return (source) => (source as Record<string, unknown>)[name];
}

function mayWrite({ caller }: RequestContext): boolean {
  return caller.platform !== undefined && platformAllows(caller.platform.roles, 'write');
}

function refusingSentinel(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    const path = findSentinel(args)?.replace(/^input\./, '');
    if (path !== undefined) {
      throw invalidField(
        path,
        'isUnmasked',
        `${path} holds the mask ••• of an answer; send the value itself`,
      );
    }
    return resolve(source, args, context, info);
  };
}

function withMaskedErrors(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    try {
      const value: unknown = resolve(source, args, context, info);
      return isPromise(value) ? value.then(undefined, throwMasked) : value;
    } catch (error) {
      return throwMasked(error);
    }
  };
}

/** Other errors show nothing of themselves: INTERNAL_ERROR and SERVICE_UNAVAILABLE have messages of our own. */
function throwMasked(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  const message = maskText(error.message);
  const details = error.details && maskRecord(error.details);
  if (message === error.message && details === error.details) throw error;
  throw new AppError(error.code, message, { ...(details && { details }), cause: error });
}
