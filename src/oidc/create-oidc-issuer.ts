import type { NextFunction, Request, Response } from 'express';
import { Router } from 'express';
import Provider, { errors } from 'oidc-provider';
import type { RequestClient, Services } from '../context.js';
import type { SigningKeys } from '../domain/identity/index.js';
import { interactionRoutes } from './interactions.js';
import { errorPage } from './pages.js';
import { providerConfiguration } from './provider-configuration.js';

export interface OidcIssuer {
  /** To be mounted at the path of the issuer, in front of anything that reads bodies. */
  router: Router;
  close(): void;
}

/**
 * The OpenID Connect issuer of an installation that has no other: discovery, keys, authorization code with PKCE,
 * client credentials. Everything it remembers is in the database, so any node may serve any request.
 * @param issuer the address clients know, ending in the path the router is mounted at
 */
export async function createOidcIssuer(options: {
  services: Pick<Services, 'orm' | 'now' | 'secrets' | 'config' | 'log'>;
  keys: SigningKeys;
  issuer: string;
  /** How often an account may be tried from where a request came. */
  clientOf(request: Request, response: Response): RequestClient;
}): Promise<OidcIssuer> {
  const { services, keys, issuer, clientOf } = options;
  const behindProxy = services.config.publicUrl !== undefined;

  async function build(): Promise<Provider> {
    const configuration = providerConfiguration({ services, issuer, keys: await keys.privateJwks() });
    const provider = new Provider(issuer, configuration);
    provider.proxy = behindProxy;
    provider.on('server_error', (_ctx, error) =>
      services.log.error({ err: error }, 'the OIDC issuer failed'),
    );
    return provider;
  }

  let provider = await build();
  let callback = provider.callback();
  const stopListening = keys.onChange(() => {
    build()
      .then((rebuilt) => {
        provider = rebuilt;
        callback = rebuilt.callback();
      })
      .catch((error: unknown) => services.log.error({ err: error }, 'the OIDC issuer kept its old keys'));
  });

  const router = Router();
  if (behindProxy) router.use(speakAs(new URL(issuer)));
  router.use(interactionRoutes({ services, issuer, provider: () => provider, clientOf }));
  router.use((request, response, next) => {
    callback(request, response).catch(next);
  });
  router.use(renderFailure);
  return { router, close: () => stopListening() };
}

/** Links and cookies follow the public address, its path included, whatever Host or X-Forwarded-* somebody sent. */
function speakAs({ host, protocol, pathname }: URL) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    request.headers.host = host;
    request.headers['x-forwarded-host'] = host;
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    request.originalUrl = `${pathname}${request.url}`;
    next();
  };
}

/** What goes wrong on our own pages is shown as a page; what is not the visitor's fault goes on to the gateway. */
function renderFailure(error: unknown, _request: Request, response: Response, next: NextFunction): void {
  if (!(error instanceof errors.OIDCProviderError) || response.headersSent) {
    next(error);
    return;
  }
  const { html, headers } = errorPage(error.error, error.error_description);
  response.status(error.statusCode).set(headers).send(html);
}
