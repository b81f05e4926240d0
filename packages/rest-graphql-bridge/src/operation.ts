import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  type TypeNode,
  visit,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { isPromise } from './is-promise.js';
import { compileVariables, type Variables } from './prepare-variables.js';

type Maybe<T> = T | Promise<T>;

/** An operation ready to run: prepared variables in, data and well-formed errors out. */
export interface Operation {
  readonly name: string;
  readonly engine: 'jit' | 'graphql-js';
  /** Runs a query or mutation, or resolves one event of a subscription when given as root. */
  run(root: unknown, context: unknown, variables: Variables): Maybe<ExecutionResult>;
  prepare(given: Variables): Variables;
  /** Opens a subscription's source. */
  open(context: unknown, variables: Variables): Promise<AsyncIterable<unknown> | ExecutionResult>;
}

/**
 * Compiles a document that has been validated and holds exactly one operation.
 * @throws Error when it can't be compiled.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
): Operation {
  const engine = needsReference(schema, document, definition) ? 'graphql-js' : 'jit';
  const query =
    engine === 'jit'
      ? compile(schema, document)
      : (rootValue: unknown, contextValue: unknown, variableValues: Variables) =>
          execute({ schema, document, rootValue, contextValue, variableValues });
  return {
    name: definition.name?.value ?? '',
    engine,
    prepare: compileVariables(schema, definition),
    run(root, context, variables) {
      const result = query(root, context, variables) as Maybe<ExecutionResult>;
      return isPromise(result) ? result.then(wellFormed) : wellFormed(result);
    },
    async open(contextValue, variableValues) {
      // graphql-jit hands variables instead of arguments to a subscribe resolver; graphql-js does not.
      const source = await createSourceEventStream({ schema, document, contextValue, variableValues });
      return Symbol.asyncIterator in source ? source : wellFormed(source);
    },
  };
}

function compile(schema: GraphQLSchema, document: DocumentNode) {
  const compiled = compileQuery(schema, document);
  if (isCompiledQuery(compiled)) return compiled.query;
  throw new Error(compiled.errors?.map((error) => error.message).join('; ') ?? 'graphql-jit gave no reason');
}

/**
 * graphql-jit writes out input types in full, so one that contains itself overflows its stack; and an absent variable
 * inside an object literal becomes null. Such operations run on graphql-js, which is slower and right.
 */
function needsReference(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
): boolean {
  const variables = definition.variableDefinitions ?? [];
  if (variables.some((variable) => containsItself(schema, namedTypeOf(variable.type)))) return true;
  const optional = new Set(
    variables
      .filter((variable) => variable.type.kind !== Kind.NON_NULL_TYPE && !variable.defaultValue)
      .map((variable) => variable.variable.name.value),
  );
  let found = false;
  visit(document, {
    ObjectField(field) {
      if (field.value.kind === Kind.VARIABLE && optional.has(field.value.name.value)) found = true;
    },
  });
  return found;
}

function namedTypeOf(type: TypeNode): string {
  let node = type;
  while (node.kind !== Kind.NAMED_TYPE) node = node.type;
  return (node satisfies NamedTypeNode).name.value;
}

function containsItself(schema: GraphQLSchema, name: string, above: readonly string[] = []): boolean {
  if (above.includes(name)) return true;
  const type = schema.getType(name);
  if (!isInputObjectType(type)) return false;
  return Object.values(type.getFields()).some((field) =>
    containsItself(schema, getNamedType(field.type).name, [...above, name]),
  );
}

/**
 * graphql-jit's errors are no native errors and may lack extensions, which formatters rely on. An error without a path
 * in a result without data means that nothing was executed: the variables were refused.
 */
function wellFormed(result: ExecutionResult): ExecutionResult {
  if (result.errors === undefined) return result;
  const executed = 'data' in result;
  return {
    ...result,
    errors: result.errors.map((error) => wellFormedError(error, executed || error.path !== undefined)),
  };
}

function wellFormedError(error: GraphQLError, executed: boolean): GraphQLError {
  // Typed as always there, but not by graphql-jit.
  const extensions: GraphQLError['extensions'] | undefined = error.extensions;
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    path: error.path,
    originalError: error.originalError,
    extensions:
      executed || extensions?.code !== undefined ? extensions : { ...extensions, code: 'BAD_USER_INPUT' },
  });
}
