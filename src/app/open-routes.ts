import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express, RequestHandler } from 'express';
import { createBridge } from 'rest-graphql-bridge';
import { asSystem, createContext, type RequestContext, type Services } from '../context.js';
import {
  auditCrossTenant,
  createAuthenticator,
  createSigningKeys,
  PASSWORD_PATH,
} from '../domain/identity/index.js';
import { newUuid } from '../entities/ids.js';
import { describeClient } from '../gateway/describe-client.js';
import { type ErrorSurface, logThrown } from '../gateway/error-handler.js';
import { createExplorer } from '../gateway/explorer.js';
import { otherMethods } from '../gateway/other-methods.js';
import { createPasswordPage } from '../gateway/password-page.js';
import type { RateLimits } from '../gateway/rate-limit/rate-limits.js';
import { recordOf, requestIdOf } from '../gateway/request-record.js';
import { isBelow, pathOf } from '../gateway/surface.js';
import { createUpstreamProxy } from '../gateway/upstream/create-upstream-proxy.js';
import { createTemplateOf } from '../gateway/upstream/route-templates.js';
import { buildGraph } from '../graph/build-schema.js';
import { createGraph } from '../graph/create-graph.js';
import { operationCheck } from '../graph/operation-check.js';
import { createOidcIssuer } from '../oidc/create-oidc-issuer.js';
import { resolvers } from '../resolvers/index.js';
import { ssoRouter } from '../rest/inbound/sso.js';
import type { Access } from '../rest/route.js';
import { itsmTables, platformTables } from '../rest/tables.js';
import { answerRepeated } from './answer-repeated.js';
import type { OnClose } from './on-close.js';
import { openRateLimits } from './open-rate-limits.js';
import { authorizationOf, callerOf, requireCaller } from './request-caller.js';

const MAX_BODY_BYTES = 1_048_576;
/** Streams have a heartbeat every 15 s, so a minute without a byte is no pause. */
const UPSTREAM_TIMEOUTS_MS = { connect: 5_000, idle: 60_000 };

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
  const mountIssuer = await openIssuer(services, url, limits, onClose);
  const { publicUrl } = config;
  const authenticator = createAuthenticator(services);
  onClose('authenticator', () => authenticator.close());
  const callers = { authenticator, publicUrl };
  const clientOf = (request: IncomingMessage, response: ServerResponse | undefined) =>
    describeClient(limits.clientOf(request, response), request, response, publicUrl);
  const fresh = ({ requestId, caller, client }: RequestContext) =>
    createContext(services, requestId, caller, client);

  const audited = async (context: RequestContext) => {
    await auditCrossTenant(context, '/graphql');
    return context;
  };

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
      const client = clientOf(request, response);
      if (access === ('public' satisfies Access)) return createContext(services, requestId, {}, client);
      const door = isBelow(route.path, '/v1') ? 'itsm' : 'platform';
      const caller = requireCaller(await callerOf(callers, request, door));
      await limits.admitCaller(caller, response);
      const context = createContext(services, requestId, caller, client);
      await auditCrossTenant(context, `${route.method} ${route.path}`);
      checks.get(`${route.method} ${route.path}`)?.(context);
      return context;
    },
    around: answerRepeated,
    eventContext: fresh,
    lifeOf: ({ caller: { itsm, platform } }) => ({
      ms: Math.min(itsm?.expiresAt ?? Infinity, platform?.expiresAt ?? Infinity) - now().getTime(),
      close: { code: 4403, reason: 'TOKEN_EXPIRED' },
    }),
    onUnexpected: (error, request) => logThrown(log, error, request),
  });
  onClose('rest', () => bridge.close());

  const graph = await createGraph({
    schema,
    introspection: config.graphqlIntrospection,
    log,
    now,
    authenticate: (request, instead) => callerOf(callers, request, 'either', instead),
    admit: async (request, response, caller) => {
      await limits.admit(request, '/graphql', response);
      if (caller) await limits.admitCaller(caller, response);
    },
    createContext: async (caller, request, response) => {
      const client = clientOf(request, response);
      // A record belongs to a request; an operation of a WebSocket is none.
      if (!response) return audited(createContext(services, newUuid(), caller, client));
      const record = Object.assign(recordOf(request), { route: '/graphql' });
      await limits.admitCaller(caller, response);
      return audited(createContext(services, record.id, caller, client));
    },
  });
  onClose('graphql', () => graph.close());

  const upstreams = createUpstreamProxy({
    upstreams: config.upstreams,
    templateOf: createTemplateOf(platformTables.flatMap(({ rows }) => rows.map(({ path }) => path))),
    timeouts: { ...UPSTREAM_TIMEOUTS_MS, firstByte: config.upstreamTimeoutMs },
    log,
    admit: (request, template, response) => limits.admit(request, template, response),
    authenticate: async (request) => requireCaller(await callerOf(callers, request, 'platform')),
    authorizationOf,
    addressOf: (request) => limits.clientOf(request, undefined).address,
  });
  onClose('upstreams', () => upstreams.close());

  const sso = ssoRouter({
    baseUrl: publicUrl ?? url,
    admit: (request, template, response) => limits.admit(request, template, response),
    contextOf: (request, response, template) => {
      recordOf(request).route = template;
      // Without the cookie of a login: a navigation that another site began must not sign anybody in here.
      return asSystem(createContext(services, requestIdOf(request), {}, limits.clientOf(request, response)));
    },
  });

  return {
    mount(app) {
      mountIssuer(app);
      const others = otherMethods('OPTIONS, POST');
      app.options('/graphql', others);
      if (config.graphqlExplorer) {
        app.use(
          createExplorer({ endpoint: '/graphql', loginPath: config.seedDemo ? '/v1/auth/login' : undefined }),
        );
      }
      app.use(createPasswordPage(PASSWORD_PATH));
      app.use(upstreams.middleware);
      app.use(sso);
      app.use('/graphql', graph.router);
      app.all('/graphql', others);
      app.use(bridge.middleware);
    },
    upgrade(request, socket, head, refuse) {
      if (upstreams.handleUpgrade(request, socket, head, refuse)) return true;
      if (pathOf(request) !== '/graphql') return bridge.handleUpgrade(request, socket, head);
      const admitting = async () => limits.admit(request, '/graphql', undefined);
      admitting().then(() => graph.handleUpgrade(request, socket, head), refuse);
      return true;
    },
  };
}

async function openIssuer(services: Services, url: string, limits: RateLimits, onClose: OnClose) {
  const { config } = services;
  if (config.oidcDiscoveryUrl !== undefined) return () => undefined;
  const keys = createSigningKeys(services, 'oidc');
  onClose('issuer keys', () => keys.close());
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
  return (app: Express) => void app.use('/oidc', admission, oidc.router);
}
