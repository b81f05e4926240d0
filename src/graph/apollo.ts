import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequestContext,
  type GraphQLRequestListener,
  HeaderMap,
} from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { GatewayInterface } from '@apollo/server-gateway-interface';
import { expressMiddleware } from '@as-integrations/express5';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { type ExecutionResult, GraphQLError, type GraphQLSchema, OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import type { RequestContext } from '../context.js';
import { describeFailure } from '../describe-failure.js';
import { type AppError, errorStatus } from '../errors.js';
import { answerFailure, retryHint } from './answer-failure.js';
import { refuseCostly } from './cost.js';
import type { GraphExecutor } from './executor.js';
import { formatError, logUnexpected } from './format-error.js';
import { limitRules, parseOptions, validationOptions } from './limits.js';

/** Bytes of a request body, as for REST. */
const MAX_BODY_BYTES = 1_048_576;

export interface GraphHttpOptions {
  schema: GraphQLSchema;
  executor: GraphExecutor;
  introspection: boolean;
  log: Logger;
  /** @throws AppError, answered with its status before the body is read. */
  admit(request: Request, response: Response): unknown;
  /** @throws AppError, answered with its status before any field runs. */
  createContext(request: Request, response: Response): Promise<RequestContext>;
}

export interface GraphHttp {
  /** Serves POST; every other method falls through. */
  router: Router;
  close(): Promise<void>;
}

/** GraphQL over HTTP by Apollo Server, with our executor in place of its own. */
export async function createGraphHttp(options: GraphHttpOptions): Promise<GraphHttp> {
  const failures: Failures = new WeakMap();
  const apollo = new ApolloServer<RequestContext>({
    gateway: asGateway(options.schema, failures),
    formatError: (_formatted, error) => formatError(asGraphqlError(error)),
    // NoSchemaIntrospectionCustomRule is one of our rules, so that both transports refuse alike.
    introspection: true,
    hideSchemaDetailsFromClientErrors: !options.introspection,
    validationRules: limitRules(options),
    validationOptions,
    parseOptions,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    nodeEnv: 'production',
    logger: options.log,
    plugins: [
      operationPlugin(options.executor, failures),
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  await apollo.start();
  const router = express.Router();
  router.post(
    '/',
    admission(options),
    express.json({ limit: MAX_BODY_BYTES, type: ['application/json', 'application/*+json'] }),
    leaveRefusalToApollo,
    expressMiddleware(apollo, { context: ({ req, res }) => contextOf(req, res, options) }),
    answerFailure,
  );
  return { router, close: () => apollo.stop() };
}

function admission({ admit }: Pick<GraphHttpOptions, 'admit'>): RequestHandler {
  return async (request, response, next) => {
    await admit(request, response);
    next();
  };
}

/** express.json leaves `body` out for another content type; Apollo refuses those itself, but not without the property. */
const leaveRefusalToApollo: RequestHandler = (request, _response, next) => {
  request.body ??= {};
  next();
};

/**
 * Results with errors, on their way to Apollo's formatting of them. Apollo takes another executor only from a gateway, and
 * makes a context for it that V8 keeps, with the whole request, until the next full collection
 * (docs/decisions/reading-lists.md). So operations are run by a plugin, and only what failed takes the gateway's way.
 */
type Failures = WeakMap<object, Promise<ExecutionResult>>;

function asGateway(schema: GraphQLSchema, failures: Failures): GatewayInterface {
  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: schema, coreSupergraphSdl: '' });
      return () => undefined;
    },
    load: async () => ({
      executor: async ({ context }) => failures.get(context) ?? {},
    }),
    stop: async () => undefined,
  };
}

function operationPlugin(executor: GraphExecutor, failures: Failures): ApolloServerPlugin<RequestContext> {
  const listener: GraphQLRequestListener<RequestContext> = {
    async didResolveOperation({ operation, schema, document, request }) {
      if (!operation) return;
      if (operation.operation === OperationTypeNode.SUBSCRIPTION) throw notOverHttp();
      refuseCostly({ schema, document, operationName: request.operationName, variables: request.variables });
    },
    async responseForOperation({ document, source, queryHash = source, request, contextValue }) {
      const executed = executor.execute(
        { document, operationName: request.operationName, documentKey: queryHash },
        { context: contextValue, variables: request.variables },
      );
      const result = await executed.catch(() => undefined);
      if (result && !result.errors)
        return {
          http: { status: undefined, headers: new HeaderMap() },
          body: { kind: 'single', singleResult: result },
        };
      failures.set(contextValue, executed);
      return null;
    },
    async didEncounterErrors({ contextValue, errors }) {
      logUnexpected(contextValue.log, errors);
    },
    async willSendResponse(request) {
      nameRequest(request);
    },
  };
  return { requestDidStart: async () => listener };
}

/** So that a person who reports an error can be helped without the response headers. */
function nameRequest({ response, contextValue }: GraphQLRequestContext<RequestContext>): void {
  if (response.body?.kind !== 'single') return;
  for (const error of response.body.singleResult.errors ?? []) {
    Object.assign(error.extensions ?? {}, { requestId: contextValue.requestId });
  }
}

function notOverHttp(): GraphQLError {
  return new GraphQLError('Subscriptions are served over WebSocket (graphql-transport-ws) on this path', {
    extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
  });
}

async function contextOf(
  request: Request,
  response: Response,
  { createContext, log }: Pick<GraphHttpOptions, 'createContext' | 'log'>,
): Promise<RequestContext> {
  try {
    return await createContext(request, response);
  } catch (error) {
    const failure = describeFailure(error);
    const status = errorStatus(failure.code);
    if (status >= 500) log.error({ err: error }, 'A GraphQL request got no context');
    throw new GraphQLError(failure.message, {
      originalError: failure,
      extensions: { ...failure.extensions, http: { status, headers: hints(status, failure) } },
    });
  }
}

/** RFC 9110: a 401 names the scheme (11.6.1), a 429 and a 503 may say when to come back (10.2.3). */
function hints(status: number, failure: AppError): HeaderMap {
  const headers = new HeaderMap();
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  const retryAfter = retryHint(failure);
  if (retryAfter !== undefined) headers.set('retry-after', retryAfter);
  return headers;
}

function asGraphqlError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  return new GraphQLError('', { originalError: error instanceof Error ? error : new Error(String(error)) });
}
