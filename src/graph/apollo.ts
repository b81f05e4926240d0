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
import { GraphQLError, type GraphQLSchema, OperationTypeNode } from 'graphql';
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
  const apollo = new ApolloServer<RequestContext>({
    gateway: asGateway(options.schema, options.executor),
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
      operationPlugin,
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

/** Apollo takes another executor only from a gateway. */
function asGateway(schema: GraphQLSchema, executor: GraphExecutor): GatewayInterface {
  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: schema, coreSupergraphSdl: '' });
      return () => undefined;
    },
    load: async () => ({
      executor: ({ document, queryHash, request, context }) =>
        executor.execute(
          { document, operationName: request.operationName, documentKey: queryHash },
          { context: context as RequestContext, variables: request.variables },
        ),
    }),
    stop: async () => undefined,
  };
}

const operationPlugin: ApolloServerPlugin<RequestContext> = {
  requestDidStart: async () => operationListener,
};

const operationListener: GraphQLRequestListener<RequestContext> = {
  async didResolveOperation({ operation, schema, document, request }) {
    if (!operation) return;
    if (operation.operation === OperationTypeNode.SUBSCRIPTION) throw notOverHttp();
    refuseCostly({ schema, document, operationName: request.operationName, variables: request.variables });
  },
  async didEncounterErrors({ contextValue, errors }) {
    logUnexpected(contextValue.log, errors);
  },
  async willSendResponse(request) {
    nameRequest(request);
  },
};

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
