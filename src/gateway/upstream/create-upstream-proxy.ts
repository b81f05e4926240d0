import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Caller, PlatformPrincipal } from '../../context.js';
import { highestPlatformRole, platformAllows, platformMinimumRole } from '../../domain/identity/index.js';
import { AppError, invalidField } from '../../errors.js';
import { recordOf, requestIdOf } from '../request-record.js';
import { isBelow, pathOf } from '../surface.js';
import { type Access, ALLOWED_METHODS, accessOf, isSigned } from './access-rules.js';
import type { Forward, UpstreamTimeouts } from './forward.js';
import { requestHeaders } from './headers.js';
import { createHttpForwarder } from './http-forwarder.js';
import type { Upstream } from './parse-upstreams.js';
import type { TemplateOf } from './route-templates.js';
import { createSocketForwarder } from './socket-forwarder.js';

export interface UpstreamProxyOptions {
  upstreams: readonly Upstream[];
  templateOf: TemplateOf;
  timeouts: UpstreamTimeouts;
  log: Logger;
  /** Counts the request. @throws RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE */
  admit(request: IncomingMessage, template: string, response: ServerResponse | undefined): unknown;
  /** Who sent the request, by a platform token. @throws AppError, also when nobody did */
  authenticate(request: IncomingMessage): Promise<Caller>;
  /** Where the request carries its token. */
  authorizationOf(request: IncomingMessage): string | undefined;
  addressOf(request: IncomingMessage): string;
}

export interface UpstreamProxy {
  readonly middleware: RequestHandler;
  /** False, with nothing done, when no upstream has the path. */
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    refuse: (error: unknown) => void,
  ): boolean;
  /** Ends streams and WebSockets, and waits a little for answers that are under way. */
  close(): Promise<void>;
}

/** Dot segments in any spelling a server may undo: the upstream would see a path outside the prefix. */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i;

/** The gateway in front of back ends that own a path prefix: HTTP, server-sent events and WebSocket. */
export function createUpstreamProxy(options: UpstreamProxyOptions): UpstreamProxy {
  const { upstreams, timeouts, log } = options;
  const http = createHttpForwarder(timeouts, log);
  const sockets = createSocketForwarder(timeouts, log);

  const upstreamOf = (request: IncomingMessage): Upstream | undefined => {
    const path = pathOf(request);
    return upstreams.find(({ prefix }) => isBelow(path, prefix));
  };

  async function allow(
    upstream: Upstream,
    request: IncomingMessage & { originalUrl?: string },
    response: ServerResponse | undefined,
  ): Promise<Forward> {
    const path = pathOf(request);
    const template = options.templateOf(upstream, path);
    recordOf(request).route = template;
    await options.admit(request, template, response);
    if (DOT_SEGMENT.test(path)) throw invalidField('path', 'isNormalized', 'The path holds dot segments');
    const access = accessOf(request.method ?? 'GET', path);
    if (!access) {
      response?.setHeader('Allow', ALLOWED_METHODS);
      throw new AppError('METHOD_NOT_ALLOWED', `${request.method} is not allowed here`);
    }
    const caller = await callerFor(access, request);
    const headers = requestHeaders({
      request,
      requestId: requestIdOf(request),
      clientAddress: options.addressOf(request),
      caller,
      authorization: caller && options.authorizationOf(request),
    });
    return { upstream, target: upstream.basePath + (request.originalUrl ?? request.url ?? path), headers };
  }

  async function callerFor(access: Access, request: IncomingMessage): Promise<PlatformPrincipal | undefined> {
    if ('signedBy' in access) {
      if (isSigned(request.headers, access.signedBy)) return undefined;
      throw new AppError('AUTHENTICATION_ERROR', 'The request must be signed');
    }
    const { platform } = await options.authenticate(request);
    if (!platform) throw new AppError('AUTHENTICATION_ERROR', 'A platform access token is required');
    if (platformAllows(platform.roles, access.action)) return platform;
    const requiredRole = platformMinimumRole[access.action];
    throw new AppError('AUTHORIZATION_ERROR', `This needs the role ${requiredRole} or a higher one`, {
      details: { requiredRole, currentRole: highestPlatformRole(platform.roles) ?? null },
    });
  }

  return {
    middleware: async (request, response, next) => {
      const upstream = upstreamOf(request);
      if (!upstream) {
        next();
        return;
      }
      await http.forward(await allow(upstream, request, response), request, response);
    },
    handleUpgrade(request, socket, head, refuse) {
      const upstream = upstreamOf(request);
      if (!upstream) return false;
      allow(upstream, request, undefined)
        .then((forward) => sockets.forward(forward, { request, socket, head }))
        .catch(refuse);
      return true;
    },
    async close() {
      sockets.close();
      await http.close();
    },
  };
}
