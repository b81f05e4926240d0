import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { isPlainObject } from './input-check.js';
import { fieldDefault, freshDefault, literalDefault } from './input-default.js';

export type Variables = { [name: string]: unknown };

/** Returns the value itself when nothing had to be changed, otherwise a changed copy. */
type Clean = (value: unknown) => unknown;

interface FieldPlan {
  readonly name: string;
  readonly clean: Clean | undefined;
  readonly fallback: unknown;
}

/**
 * Compiles what has to happen to an operation's variables before graphql-jit sees them: a property that is undefined
 * goes (jit makes null of it, so a PATCH would clear fields), and defaults are put in as a client would send them
 * (jit refuses a non-null input field whose default it should have taken, and leaves defaults of custom scalars
 * unparsed). Absent stays absent, null stays null.
 */
export function compileVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
): (given: Variables) => Variables {
  const cleaners = new Map<GraphQLInputObjectType, Clean>();
  const plans = (operation.variableDefinitions ?? []).map((definition): FieldPlan => {
    const type = typeFromAST(schema, definition.type);
    return {
      name: definition.variable.name.value,
      clean: isInputType(type) ? cleanerOf(type, cleaners) : undefined,
      fallback: literalDefault(definition.defaultValue),
    };
  });
  return (given) => {
    const prepared: Variables = {};
    for (const { name, clean, fallback } of plans) {
      const value = given[name];
      if (value !== undefined) prepared[name] = clean ? clean(value) : value;
      else if (fallback !== undefined) prepared[name] = freshDefault(fallback);
    }
    return prepared;
  };
}

function cleanerOf(type: GraphQLInputType, cleaners: Map<GraphQLInputObjectType, Clean>): Clean | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = cleanerOf(nullable.ofType, cleaners);
    // A single value stands for a list of one in GraphQL.
    return item && ((value) => (Array.isArray(value) ? value.map(item) : item(value)));
  }
  return isInputObjectType(nullable) ? objectCleaner(nullable, cleaners) : undefined;
}

function objectCleaner(type: GraphQLInputObjectType, cleaners: Map<GraphQLInputObjectType, Clean>): Clean {
  const known = cleaners.get(type);
  if (known) return known;
  const plans: FieldPlan[] = [];
  const clean: Clean = (value) => (isPlainObject(value) ? cleanObject(value, plans) : value);
  cleaners.set(type, clean);
  for (const field of Object.values(type.getFields())) {
    plans.push({ name: field.name, clean: cleanerOf(field.type, cleaners), fallback: fieldDefault(field) });
  }
  return clean;
}

function cleanObject(value: Variables, plans: readonly FieldPlan[]): Variables {
  let copy: Variables | undefined;
  for (const { name, clean, fallback } of plans) {
    const before = value[name];
    const after = before === undefined ? freshDefault(fallback) : clean ? clean(before) : before;
    if (after === before && (after !== undefined || !Object.hasOwn(value, name))) continue;
    copy ??= { ...value };
    if (after === undefined) delete copy[name];
    else copy[name] = after;
  }
  return copy ?? value;
}
