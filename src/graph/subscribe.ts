import { createSourceEventStream, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import type { RequestContext } from '../context.js';
import type { GraphOperation } from './executor.js';
import { MappedEvents } from './mapped-events.js';

/**
 * Starts a subscription. The source comes through graphql-js, because graphql-jit hands a subscribe resolver the
 * variables in place of the arguments; each event is resolved by `resolve`.
 */
export async function subscribeTo(start: {
  schema: GraphQLSchema;
  operation: GraphOperation;
  variables: Record<string, unknown> | undefined;
  context: RequestContext;
  resolve(event: unknown): Promise<ExecutionResult>;
}): Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult> {
  const { document, operationName } = start.operation;
  const source = await createSourceEventStream({
    schema: start.schema,
    document,
    operationName,
    variableValues: start.variables,
    contextValue: start.context,
  });
  if (Symbol.asyncIterator in source) return new MappedEvents(source[Symbol.asyncIterator](), start.resolve);
  return { errors: source.errors?.map(withCode) ?? [] };
}

/** A refusal without a path came before the field: the variables do not fit. */
function withCode(error: GraphQLError): GraphQLError {
  if (error.path !== undefined) return error;
  return new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    extensions: { code: 'BAD_USER_INPUT' },
  });
}
