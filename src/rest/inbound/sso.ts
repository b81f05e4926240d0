import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import type { RequestContext } from '../../context.js';
import { finishSso, samlMetadata, startSso } from '../../domain/identity/index.js';
import { AppError, invalidField } from '../../errors.js';

export interface SsoRouterOptions {
  /** As browsers and providers know this installation, without a slash at the end. */
  baseUrl: string;
  /** Counts the request; a refusal is thrown. */
  admit(request: IncomingMessage, template: string, response: ServerResponse): undefined | Promise<void>;
  /** Of a request of nobody, who is being found out. */
  contextOf(request: IncomingMessage, response: ServerResponse, template: string): RequestContext;
}

interface Params {
  [name: string]: string;
  provider: string;
}

type Answer = (request: Request<Params>, response: Response, context: RequestContext) => Promise<void>;

const PROVIDER = '/v1/auth/sso/:provider';
const CALLBACK = `${PROVIDER}/callback`;
const METADATA = `${PROVIDER}/metadata`;

const oidc = new Set(['directory-oidc', 'workspace-oidc', 'oidc']);
const saml = new Set(['saml']);
const all = new Set([...oidc, ...saml]);

/** A signed response with a certificate and many groups has tens of kilobytes; base64 and form encoding add to it. */
const MAX_FORM_BYTES = 524_288;

/** What a browser is sent through on its way to a login provider and back: redirects and a form, no rows of a table. */
export function ssoRouter({ baseUrl, admit, contextOf }: SsoRouterOptions): Router {
  const router = Router({ caseSensitive: true });

  /** For these kinds of provider; the rest is answered as if the route were not there. Counted before a body is read. */
  function serve(
    template: string,
    kinds: ReadonlySet<string>,
    answer: Answer,
    readers: RequestHandler<Params>[] = [],
  ): RequestHandler<Params>[] {
    const gate: RequestHandler<Params> = async (request, response, next) => {
      if (!kinds.has(request.params.provider)) return next('route');
      await admit(request, template, response);
      response.setHeader('cache-control', 'no-store');
      return next();
    };
    const run: RequestHandler<Params> = (request, response) =>
      answer(request, response, contextOf(request, response, template));
    return [gate, ...readers, run];
  }

  const others: [string, RequestHandler<Params>][] = [
    [PROVIDER, otherMethods(all, () => 'GET, HEAD, OPTIONS')],
    [CALLBACK, otherMethods(all, (name) => (saml.has(name) ? 'OPTIONS, POST' : 'GET, HEAD, OPTIONS'))],
    [METADATA, otherMethods(saml, () => 'GET, HEAD, OPTIONS')],
  ];
  for (const [path, refuse] of others) router.options(path, refuse);
  router.get(
    PROVIDER,
    serve(PROVIDER, all, async (request, response, context) => {
      const { provider } = request.params;
      redirect(response, await startSso(context, { provider, baseUrl, query: queryOf(request) }));
    }),
  );
  router.get(
    CALLBACK,
    serve(CALLBACK, oidc, async (request, response, context) => {
      const { tenant, ...answer } = queryOf(request);
      const { provider } = request.params;
      await finish(response, context, { provider, baseUrl, tenant, state: answer['state'], answer });
    }),
  );
  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: MAX_FORM_BYTES });
  const takeResponse: Answer = async (request, response, context) => {
    const answer = singleValues(new URLSearchParams(formOf(request)));
    const { tenant } = queryOf(request);
    const { provider } = request.params;
    await finish(response, context, { provider, baseUrl, tenant, state: answer['RelayState'], answer });
  };
  router.post(CALLBACK, serve(CALLBACK, saml, takeResponse, [form]));
  router.get(
    METADATA,
    serve(METADATA, saml, async (request, response, context) => {
      const { tenant } = queryOf(request);
      response.type('application/samlmetadata+xml').send(await samlMetadata(context, { baseUrl, tenant }));
    }),
  );
  for (const [path, refuse] of others) router.all(path, refuse);
  return router;
}

async function finish(
  response: Response,
  context: RequestContext,
  returned: Parameters<typeof finishSso>[1],
): Promise<void> {
  const finished = await finishSso(context, returned);
  if ('redirect' in finished) redirect(response, finished.redirect);
  else response.status(200).json(finished.loggedIn);
}

function redirect(response: Response, url: URL): void {
  response.status(302).setHeader('location', url.href).end();
}

/** Leaves the router for other kinds, or Express would answer their OPTIONS with what it saw of these routes. */
function otherMethods(
  kinds: ReadonlySet<string>,
  allowed: (provider: string) => string,
): RequestHandler<Params> {
  return (request, response, next) => {
    const { provider } = request.params;
    if (!kinds.has(provider)) return next('router');
    response.setHeader('allow', allowed(provider));
    if (request.method === 'OPTIONS') return void response.status(204).end();
    throw new AppError('METHOD_NOT_ALLOWED', `${request.method} is not allowed here`);
  };
}

function queryOf({ originalUrl }: Request<Params>): Record<string, string> {
  const query = originalUrl.indexOf('?');
  return singleValues(new URLSearchParams(query === -1 ? '' : originalUrl.slice(query)));
}

function formOf({ body }: Request<Params>): string {
  if (typeof body === 'string') return body;
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The content type must be application/x-www-form-urlencoded');
}

/** OAuth parameters never come twice (RFC 6749 section 3.1): two readers could each believe another one. */
function singleValues(parameters: URLSearchParams): Record<string, string> {
  for (const name of new Set(parameters.keys()))
    if (parameters.getAll(name).length > 1)
      throw invalidField(name, 'isSingle', `${name} must not be repeated`);
  return Object.fromEntries(parameters);
}
