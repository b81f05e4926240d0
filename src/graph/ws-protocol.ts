import type { IncomingMessage } from 'node:http';
import {
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql';
import { type Context, makeServer, type Server, type SubscribePayload } from 'graphql-ws';
import type { Logger } from 'pino';
import type { Caller, RequestContext } from '../context.js';
import { AppError } from '../errors.js';
import { refuseCostly } from './cost.js';
import type { GraphExecutor, GraphOperation } from './executor.js';
import { formatError, logUnexpected } from './format-error.js';
import { createPreparation } from './prepare-document.js';
import { subscribeTo } from './subscribe.js';

export interface ProtocolOptions {
  schema: GraphQLSchema;
  executor: GraphExecutor;
  introspection: boolean;
  log: Logger;
  /** Asked for each operation. @throws AppError */
  admit(request: IncomingMessage, caller: Caller): unknown;
  /** One for each operation and each event; the request is the one that was upgraded. */
  createContext(caller: Caller, request: IncomingMessage): RequestContext | Promise<RequestContext>;
}

/** What the protocol keeps about a socket beside graphql-ws' own state. */
export interface Connection {
  readonly request: IncomingMessage;
  caller: Caller;
  /** Finds out who the client is; false when it was refused, and told so. */
  admit(connectionParams: Record<string, unknown> | undefined): Promise<boolean>;
}

type Socket = Context<Record<string, unknown>, Connection>;
type Arguments = ExecutionArgs & { documentKey: string; connection: Connection };

/** The console opens about ten; each holds a buffer of the event feed. */
const MAX_OPERATIONS_PER_SOCKET = 50;
/** graphql-transport-ws: a client that never says connection_init is closed with 4408. */
const INIT_TIMEOUT_MS = 10_000;

/** graphql-transport-ws with the validation, limits, executor and errors of the HTTP side. */
export function createProtocol(options: ProtocolOptions): Server<Connection> {
  const { schema, executor, log, admit, createContext } = options;
  const prepare = createPreparation(schema, options);

  function begin(socket: Socket, payload: SubscribePayload): Arguments | readonly GraphQLError[] {
    const prepared = prepare(payload.query);
    if (!('document' in prepared)) return prepared;
    const operationName = payload.operationName ?? undefined;
    const variables = payload.variables ?? undefined;
    if (!getOperationAST(prepared.document, operationName)) return [unknownOperation()];
    refuseCostly({ schema, document: prepared.document, operationName, variables });
    return { ...prepared, schema, operationName, variableValues: variables, connection: socket.extra };
  }

  return makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: INIT_TIMEOUT_MS,
    onConnect: (socket) => socket.extra.admit(socket.connectionParams),
    onSubscribe: async (socket, _id, payload) => {
      // Before anything is awaited: operations that arrive together are all in the list a moment later.
      if (Object.keys(socket.subscriptions).length > MAX_OPERATIONS_PER_SOCKET) return [tooMany()];
      try {
        await admit(socket.extra.request, socket.extra.caller);
        return begin(socket, payload);
      } catch (error) {
        return [
          error instanceof GraphQLError ? error : new GraphQLError('', { originalError: error as Error }),
        ];
      }
    },
    execute: async (given) => {
      const { operation, variables, connection } = unpacked(given);
      const context = await createContext(connection.caller, connection.request);
      return attributed(await executor.execute(operation, { context, variables }), context);
    },
    subscribe: async (given) => {
      const { operation, variables, connection } = unpacked(given);
      const { caller, request } = connection;
      return subscribeTo({
        schema,
        operation,
        variables,
        context: await createContext(caller, request),
        // A context for each event, so that entities and dataloaders never outlive it.
        async resolve(event) {
          const context = await createContext(caller, request);
          const result = await executor.execute(operation, { context, variables, rootValue: event });
          return attributed(result, context);
        },
      });
    },
    onNext: (_socket, _id, _payload, _args, { errors, ...result }) => ({
      ...result,
      ...(errors && { errors: errors.map((error) => formatError(error)) }),
    }),
    onError: (_socket, _id, _payload, errors) => {
      logUnexpected(log, errors);
      return errors.map((error) => formatError(error));
    },
  });
}

function unpacked(given: ExecutionArgs) {
  // Our own onSubscribe made them: graphql-ws hands them on as they are.
  const { document, documentKey, operationName, variableValues, connection } = given as Arguments;
  const operation: GraphOperation = { document, documentKey, operationName: operationName ?? undefined };
  return { operation, variables: variableValues ?? undefined, connection };
}

/** The errors of a result, written to the log and marked with the request they belong to. */
function attributed(result: ExecutionResult, { log, requestId }: RequestContext): ExecutionResult {
  if (result.errors === undefined) return result;
  logUnexpected(log, result.errors);
  for (const error of result.errors) error.extensions['requestId'] = requestId;
  return result;
}

function tooMany(): GraphQLError {
  const refusal = new AppError(
    'RATE_LIMIT_EXCEEDED',
    `One connection may run ${MAX_OPERATIONS_PER_SOCKET} operations at a time`,
  );
  return new GraphQLError(refusal.message, { originalError: refusal });
}

function unknownOperation(): GraphQLError {
  return new GraphQLError(
    'The document does not say which of its operations to run, or has none of that name',
    {
      extensions: { code: 'OPERATION_RESOLUTION_FAILURE' },
    },
  );
}
