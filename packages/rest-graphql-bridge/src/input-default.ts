import {
  astFromValue,
  type ConstValueNode,
  type GraphQLInputField,
  type GraphQLInputType,
  valueFromASTUntyped,
} from 'graphql';

/**
 * The default of an input field in the form a client would send it, or undefined when it has none.
 * graphql-jit writes the parsed default into its code as JSON, so a DateTime default reaches resolvers as a string;
 * given as a client's value it is parsed like one.
 */
export function fieldDefault(field: GraphQLInputField): unknown {
  if (field.defaultValue === undefined) return undefined;
  return field.astNode?.defaultValue
    ? literalDefault(field.astNode.defaultValue)
    : serialisedDefault(field.defaultValue, field.type);
}

/** The same for the default of an operation's variable. */
export function literalDefault(node: ConstValueNode | undefined): unknown {
  return node === undefined ? undefined : valueFromASTUntyped(node);
}

function serialisedDefault(value: unknown, type: GraphQLInputType): unknown {
  try {
    const node = astFromValue(value, type);
    return node ? valueFromASTUntyped(node) : undefined;
  } catch {
    // astFromValue refuses scalars that serialise to an object, such as a Date; JSON is what a client would send.
    return JSON.parse(JSON.stringify(value));
  }
}

/** Each request gets a default of its own, since a resolver may keep and change what it was given. */
export function freshDefault(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}
