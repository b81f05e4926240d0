import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  parse,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { RequestContext } from '../context.js';
import { jitAnswersAlike } from './jit-support.js';
import { parseOptions } from './limits.js';

/** A validated document and the operation in it. */
export interface GraphOperation {
  document: DocumentNode;
  /** As the client sent it: an unknown name must not run the only operation there is. */
  operationName: string | undefined;
  /** Equal for equal documents, such as a hash of the text. */
  documentKey: string;
}

export interface OperationInput {
  context: RequestContext;
  variables: Record<string, unknown> | undefined;
  /** The event, when a subscription's event is resolved. */
  rootValue?: unknown;
}

export interface GraphExecutor {
  execute(operation: GraphOperation, input: OperationInput): Promise<ExecutionResult>;
}

type Run = (
  rootValue: unknown,
  context: RequestContext,
  variables: Record<string, unknown> | undefined,
) => ExecutionResult | Promise<ExecutionResult>;

/** A compiled list of tickets takes about 30 KiB. */
const COMPILED_OPERATIONS = 500;

/** Runs documents that passed validation and limits: compiled by graphql-jit, or by graphql-js where the two differ. */
export function createExecutor(schema: GraphQLSchema): GraphExecutor {
  const compiled = new LRUCache<string, Run>({ max: COMPILED_OPERATIONS });

  function runOf(operation: GraphOperation): Run {
    const key = `${operation.documentKey}:${operation.operationName ?? ''}`;
    const known = compiled.get(key);
    if (known) return known;
    const run = compile(schema, operation);
    compiled.set(key, run);
    return run;
  }

  return {
    async execute(operation, { context, variables, rootValue }) {
      if (!getOperationAST(operation.document, operation.operationName)) return unresolved(operation);
      return standardErrors(await runOf(operation)(rootValue, context, variables));
    },
  };
}

function compile(schema: GraphQLSchema, { document, operationName }: GraphOperation): Run {
  const onGraphqlJs: Run = (rootValue, contextValue, variableValues) =>
    execute({ schema, document, rootValue, contextValue, variableValues, operationName });
  const source = document.loc?.source;
  if (source === undefined || !jitAnswersAlike(document)) return onGraphqlJs;
  // graphql-jit writes into the document, which others validate and compile as well: it gets one of its own.
  const compiled = compileQuery(schema, parse(source, parseOptions), operationName, {
    useExperimentalPathBasedSkipInclude: true,
  });
  return isCompiledQuery(compiled) ? compiled.query : onGraphqlJs;
}

function unresolved({ operationName }: GraphOperation): ExecutionResult {
  const message =
    operationName === undefined
      ? 'Must provide operation name if query contains multiple operations.'
      : `Unknown operation named "${operationName}".`;
  return { errors: [new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } })] };
}

/**
 * The errors of graphql-jit are no full GraphQLErrors (their `extensions` may be undefined, on which Apollo breaks),
 * and those of refused variables, which come without `data`, lack the code that clients know.
 */
function standardErrors(result: ExecutionResult): ExecutionResult {
  if (result.errors === undefined) return result;
  const code = 'data' in result ? undefined : 'BAD_USER_INPUT';
  return { ...result, errors: result.errors.map((error) => standardError(error, code)) };
}

function standardError(error: GraphQLError, code: string | undefined): GraphQLError {
  const { message, path, locations, originalError, extensions } = error;
  const standard = new GraphQLError(message, {
    path: path ?? null,
    originalError: originalError ?? null,
    extensions: {
      ...(originalError as { extensions?: object } | undefined)?.extensions,
      ...extensions,
      ...(code && { code }),
    },
  });
  // The constructor computes locations from nodes, which graphql-jit does not keep.
  return Object.defineProperty(standard, 'locations', {
    value: locations,
    enumerable: locations !== undefined,
  });
}
