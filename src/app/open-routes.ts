import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express, RequestHandler } from 'express';
import { createBridge } from 'rest-graphql-bridge';
import { type Caller, createContext, type RequestContext, type Services } from '../context.js';
import {
  createAuthenticator,
  createPlatformTokens,
  createSigningKeys,
  discoveredIssuer,
  embeddedIssuer,
} from '../domain/identity/index.js';
import { newUuid } from '../entities/ids.js';
import { type ErrorSurface, logThrown } from '../gateway/error-handler.js';
import { createExplorer } from '../gateway/explorer.js';
import type { RateLimits } from '../gateway/rate-limit/rate-limits.js';
import { recordOf, requestIdOf } from '../gateway/request-record.js';
import { isBelow, pathOf } from '../gateway/surface.js';
import { buildGraph } from '../graph/build-schema.js';
import { createGraph } from '../graph/create-graph.js';
import { operationCheck } from '../graph/operation-check.js';
import { createOidcIssuer } from '../oidc/create-oidc-issuer.js';
import { resolvers } from '../resolvers/index.js';
import type { Access } from '../rest/route.js';
import { itsmTables, platformTables } from '../rest/tables.js';
import type { OnClose } from './on-close.js';
import { openRateLimits } from './open-rate-limits.js';
import { callerOf, requireCaller } from './request-caller.js';

const MAX_BODY_BYTES = 1_048_576;

export interface Routes {
  mount(app: Express): void;
  /** False, with nothing done, when no WebSocket is served there. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, refuse: (error: unknown) => void): boolean;
}

/** The graph, the rows over it, and the embedded issuer when there is no other. */
export async function openRoutes(
  services: Services,
  url: string,
  surfaces: readonly ErrorSurface[],
  onClose: OnClose,
): Promise<Routes> {
  const { config, log, now } = services;
  const schema = buildGraph(resolvers);
  const limits = await openRateLimits(services);
  onClose('rate limits', () => limits.close());
  const { platformTokens, mountIssuer } = await openIssuer(services, url, limits, onClose);
  const authenticator = createAuthenticator({ itsm: services.itsmTokens, platform: platformTokens });
  const fresh = ({ requestId, caller, client }: RequestContext) =>
    createContext(services, requestId, caller, client);

  const tables = [...itsmTables, ...platformTables];
  const checks = new Map(
    tables.flatMap(({ rows }) =>
      rows.map((row) => [`${row.method} ${row.path}`, operationCheck(schema, row.document)] as const),
    ),
  );

  const bridge = createBridge<RequestContext>({
    schema,
    tables,
    surfaces,
    maxBodyBytes: MAX_BODY_BYTES,
    admit: (request, { path, response }) => limits.admit(request, path, response),
    context: async (request, access, { route, response }) => {
      recordOf(request).route = route.path;
      const requestId = requestIdOf(request);
      const client = limits.clientOf(request, response);
      if (access === ('public' satisfies Access)) return createContext(services, requestId, {}, client);
      const door = isBelow(route.path, '/v1') ? 'itsm' : 'platform';
      const caller = requireCaller(await callerOf(authenticator, request, door));
      await limits.admitCaller(caller, response);
      const context = createContext(services, requestId, caller, client);
      checks.get(`${route.method} ${route.path}`)?.(context);
      return context;
    },
    eventContext: fresh,
    onUnexpected: (error, request) => logThrown(log, error, request),
  });
  onClose('rest', () => bridge.close());

  const graph = await createGraph({
    schema,
    introspection: config.graphqlIntrospection,
    log,
    now,
    authenticate: (authorization) => authenticator.authenticate({ authorization }, 'either'),
    admit: async (request, response, caller) => {
      await limits.admit(request, '/graphql', response);
      if (caller) await limits.admitCaller(caller, response);
    },
    createContext: async (caller, request, response) => {
      const client = limits.clientOf(request, response);
      // A record belongs to a request; an operation of a WebSocket is none.
      if (!response) return createContext(services, newUuid(), caller, client);
      const record = Object.assign(recordOf(request), { route: '/graphql', ...ids(caller) });
      await limits.admitCaller(caller, response);
      return createContext(services, record.id, caller, client);
    },
  });
  onClose('graphql', () => graph.close());

  return {
    mount(app) {
      mountIssuer(app);
      if (config.graphqlExplorer) {
        app.use(
          createExplorer({ endpoint: '/graphql', loginPath: config.seedDemo ? '/v1/auth/login' : undefined }),
        );
      }
      app.use('/graphql', graph.router);
      app.use(bridge.middleware);
    },
    upgrade(request, socket, head, refuse) {
      if (pathOf(request) !== '/graphql') return bridge.handleUpgrade(request, socket, head);
      const admitting = async () => limits.admit(request, '/graphql', undefined);
      admitting().then(() => graph.handleUpgrade(request, socket, head), refuse);
      return true;
    },
  };
}

function ids(caller: Caller) {
  return {
    callerId: caller.itsm?.userId ?? caller.platform?.subject,
    organizationId: caller.itsm?.organizationId ?? caller.platform?.organizationId,
  };
}

async function openIssuer(services: Services, url: string, limits: RateLimits, onClose: OnClose) {
  const { config } = services;
  const audience = config.oidcAudience;
  if (config.oidcDiscoveryUrl !== undefined) {
    const issuer = discoveredIssuer(config.oidcDiscoveryUrl);
    return {
      platformTokens: createPlatformTokens({ issuer, audience, services }),
      mountIssuer: () => undefined,
    };
  }
  const keys = createSigningKeys(services, 'oidc');
  onClose('issuer keys', () => keys.close());
  const issuer = embeddedIssuer(config.publicUrl, keys);
  const oidc = await createOidcIssuer({
    services,
    keys,
    issuer: `${config.publicUrl ?? url}/oidc`,
    clientOf: (request, response) => limits.clientOf(request, response),
  });
  const admission: RequestHandler = async (request, response, next) => {
    await limits.admit(request, '/oidc', response);
    next();
  };
  onClose('issuer', () => oidc.close());
  return {
    platformTokens: createPlatformTokens({ issuer, audience, services }),
    mountIssuer: (app: Express) => void app.use('/oidc', admission, oidc.router),
  };
}
