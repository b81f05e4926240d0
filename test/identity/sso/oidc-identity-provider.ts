import { createServer, type RequestListener } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import { listen } from '../../oidc/served-issuer.js';

export interface Person {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  groups?: string[];
}

export interface OidcIdentityProvider {
  readonly issuer: string;
  /** Who sits in front of the browser. */
  person: Person;
  /** While false it answers 503. */
  up: boolean;
  /** Paths it was asked for. */
  readonly requests: string[];
  close(): Promise<void>;
}

export const CLIENT_ID = 'opsgraph';
export const CLIENT_SECRET = 'a-secret-of-the-provider';

/** Somebody else's OpenID Connect provider on a loopback port: logs in whoever is set, without asking. */
export async function startOidcIdentityProvider(
  redirectUris: string[],
  more: Configuration = {},
): Promise<OidcIdentityProvider> {
  let answer: RequestListener = () => undefined;
  const server = createServer((request, response) => answer(request, response));
  const issuer = await listen(server);
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const idp = { issuer, person: { sub: 'nobody' } as Person, up: true, requests: [] as string[] };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: redirectUris,
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'idp' }] },
    cookies: { keys: ['signs the cookies of a test'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: { email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ ...idp.person, sub: accountId }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Interaction: 60, Session: 60, Grant: 60 },
    loadExistingGrant: async (ctx) => {
      const { oidc } = ctx;
      const grant = new oidc.provider.Grant({
        clientId: `${oidc.client?.clientId}`,
        accountId: `${oidc.session?.accountId}`,
      });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
    ...more,
  });
  const callback = provider.callback();
  answer = (request, response) => {
    const { url = '' } = request;
    idp.requests.push(url);
    if (!idp.up) return response.writeHead(503).end();
    if (!url.startsWith('/interaction/')) return callback(request, response);
    return provider.interactionFinished(request, response, { login: { accountId: idp.person.sub } });
  };
  return Object.assign(idp, {
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
