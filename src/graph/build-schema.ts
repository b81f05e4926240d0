import {
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isInputObjectType,
  isNonNullType,
} from 'graphql';
import { buildSchemaSync, type ClassType, getMetadataStorage, type PubSub } from 'type-graphql';
import { requirementOf } from '../resolvers/permission.js';
import { checkOf, guarded, inSystem } from './authorize.js';
import { maskingProblems, maskPlatform } from './masking.js';

/** type-graphql insists on a bus of its own; every subscription here brings its source with `subscribe`. */
const noPubSub: PubSub = {
  publish() {
    throw new Error('Events are published by src/events, not by type-graphql');
  },
  subscribe() {
    throw new Error('A subscription brings its own source: @Subscription({ subscribe })');
  },
};

/**
 * Assembles the graph from resolver classes, with authorisation in front of every root field and personal data masked in
 * the platform's answers.
 * @throws Error naming every field and type that would be open by mistake or break under graphql-jit.
 */
export function buildGraph(resolvers: readonly ClassType[]): GraphQLSchema {
  const [first, ...others] = resolvers;
  if (first === undefined) throw new Error('The graph needs a resolver: add one to src/resolvers/index.ts');
  readPlainFieldsDirectly();
  const schema = buildSchemaSync({
    resolvers: [first, ...others],
    validate: false,
    pubSub: noPubSub,
  });
  const problems = [...rootFieldProblems(schema), ...jitProblems(schema), ...maskingProblems(schema)];
  if (problems.length > 0) throw new Error(`The graph cannot start. ${problems.join(' ')}`);
  maskPlatform(schema);
  guardRootFields(schema);
  return schema;
}

/**
 * type-graphql gives every plain field a resolver that returns the property, which graphql-jit then calls through a
 * deferred closure instead of reading the property inline. A page of 25 tickets with 15 fields takes 7 µs without these
 * resolvers and 20 µs with them (graphql-js: 183 µs).
 */
function readPlainFieldsDirectly(): void {
  const storage = getMetadataStorage();
  for (const type of storage.objectTypes) type.simpleResolvers ??= true;
  for (const field of storage.fields) {
    if (field.schemaName !== field.name) field.simple ??= false;
  }
}

function rootTypes(schema: GraphQLSchema): GraphQLObjectType[] {
  return [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter(
    (type) => type != null,
  );
}

function rootFieldProblems(schema: GraphQLSchema): string[] {
  return rootTypes(schema).flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => requirementOf(field) === undefined)
      .map((field) => `${type.name}.${field.name} has no @Permission.`),
  );
}

/** What graphql-jit 0.8 answers differently from graphql-js and the schema can avoid. */
function jitProblems(schema: GraphQLSchema): string[] {
  const problems: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type) && type.resolveType?.constructor.name === 'AsyncFunction') {
      problems.push(`${type.name} has an asynchronous resolveType: leave it out and return class instances.`);
    }
    if (!isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!isNonNullType(field.type) || field.defaultValue === undefined) continue;
      problems.push(`${type.name}.${field.name} is required and has a default: make it nullable.`);
    }
  }
  return problems;
}

function guardRootFields(schema: GraphQLSchema): void {
  for (const type of rootTypes(schema)) {
    for (const field of Object.values(type.getFields())) {
      const requirement = requirementOf(field);
      const check = requirement && checkOf(requirement);
      if (check === undefined) {
        if (field.resolve) field.resolve = inSystem(field.resolve);
        continue;
      }
      // A subscription is checked when it starts; the resolver of each event only reads what the source produced.
      if (field.subscribe) field.subscribe = guarded(field.subscribe, check);
      else if (field.resolve) field.resolve = guarded(field.resolve, check);
    }
  }
}
