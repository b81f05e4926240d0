import type { JWK } from 'jose';
import type { Configuration } from 'oidc-provider';
import type { Services } from '../context.js';
import { artifactStore } from './artifact-store.js';
import { clientStore } from './client-store.js';
import { errorPage } from './pages.js';
import { findAccount, platformClaims } from './platform-claims.js';

/** The one resource there is; its name never shows, tokens carry OIDC_AUDIENCE. */
const RESOURCE = 'urn:opsgraph:platform';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seconds. A user's access token lives as long as one of /v1; a service has no refresh token to renew its own with. */
const ttl = {
  AccessToken: 15 * MINUTE,
  AuthorizationCode: MINUTE,
  ClientCredentials: HOUR,
  Grant: 7 * DAY,
  IdToken: 15 * MINUTE,
  Interaction: 10 * MINUTE,
  RefreshToken: 7 * DAY,
  Session: 12 * HOUR,
};

/** Codes with PKCE for the public client, client credentials for the confidential ones, and nothing else. */
export function providerConfiguration(options: {
  services: Pick<Services, 'orm' | 'now' | 'secrets' | 'config'>;
  keys: JWK[];
  issuer: string;
}): Configuration {
  const { services, keys, issuer } = options;
  const cookie = {
    signed: true,
    httpOnly: true,
    sameSite: 'lax',
    secure: issuer.startsWith('https:'),
    overwrite: true,
  } as const;
  return {
    adapter: (model: string) => (model === 'Client' ? clientStore(services) : artifactStore(services, model)),
    jwks: { keys },
    ttl,
    cookies: {
      keys: [Buffer.from(services.secrets.deriveKey('oidc cookies')).toString('base64url')],
      long: cookie,
      short: cookie,
    },
    pkce: { required: () => true },
    responseTypes: ['code'],
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub'], email: ['email'], profile: ['name'] },
    enabledJWA: { idTokenSigningAlgValues: ['RS256'] },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    findAccount: (_ctx, id) => findAccount(services, id),
    extraTokenClaims: (_ctx, token) =>
      platformClaims(
        services,
        token.kind === 'AccessToken' ? { userId: token.accountId } : { clientId: token.clientId ?? '' },
      ),
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience: services.config.oidcAudience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    interactions: {
      url: (_ctx, interaction) => `${new URL(issuer).pathname}/interaction/${interaction.uid}`,
    },
    renderError(ctx, out) {
      const page = errorPage(out.error, out.error_description);
      ctx.set(page.headers);
      ctx.body = page.html;
    },
  };
}
