import { LRUCache } from 'lru-cache';
import * as client from 'openid-client';
import { unavailable } from '../../errors.js';
import type { PublicFetch } from '../http/public-fetch.js';
import { refused } from './refused.js';
import type { SsoConnection, SsoProfile, SsoProtocol } from './sso-protocol.js';

const TIMEOUT_SECONDS = 5;
const RETRY_AFTER_SECONDS = 5;
const DISCOVERY_FRESH_MS = 3_600_000;
const CONNECTIONS_REMEMBERED = 1_000;

type Claims = Readonly<Record<string, unknown>>;

/**
 * OpenID Connect Core 1.0, authorization code with PKCE, state and nonce. openid-client checks issuer (RFC 9207 where
 * the provider supports it), audience, expiry and nonce; we ask it to check the ID token's signature too, although it
 * came over TLS.
 */
export function createOidcRelyingParty(http: PublicFetch): SsoProtocol {
  const known = new LRUCache<string, Promise<client.Configuration>>({
    max: CONNECTIONS_REMEMBERED,
    ttl: DISCOVERY_FRESH_MS,
  });

  /** Discovered once an hour, however many log in; a failure is not remembered. */
  function configurationOf(connection: SsoConnection): Promise<client.Configuration> {
    const key = `${connection.id} ${connection.version} ${connection.callbackUrl}`;
    const present = known.get(key);
    if (present) return present;
    const discovering = discover(connection, http).catch((error: unknown) => {
      known.delete(key);
      throw unavailable('sso', RETRY_AFTER_SECONDS, error);
    });
    known.set(key, discovering);
    return discovering;
  }

  return {
    async begin(connection, { state, nonce, codeVerifier }) {
      const configuration = await configurationOf(connection);
      const url = client.buildAuthorizationUrl(configuration, {
        response_type: 'code',
        redirect_uri: connection.callbackUrl,
        scope: ['openid', ...connection.scopes].join(' '),
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      });
      const problem = http.problemOf(url);
      if (problem !== undefined)
        throw unavailable('sso', RETRY_AFTER_SECONDS, new Error(`authorization endpoint: ${problem}`));
      return url;
    },

    async finish(connection, { state, nonce, codeVerifier }, answer) {
      const configuration = await configurationOf(connection);
      const current = new URL(connection.callbackUrl);
      for (const [name, value] of Object.entries(answer)) current.searchParams.set(name, value);
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
      try {
        const tokens = await client.authorizationCodeGrant(configuration, current, checks);
        const claims: Claims | undefined = tokens.claims();
        if (!claims) throw new Error('no ID token');
        return profileOf(await withUserInfo(configuration, tokens.access_token, claims));
      } catch (error) {
        throw isAway(error) ? unavailable('sso', RETRY_AFTER_SECONDS, error) : refused(error);
      }
    },
  };
}

async function discover(connection: SsoConnection, http: PublicFetch): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret, callbackUrl } = connection;
  const server = new URL(issuer);
  const customFetch: client.CustomFetch = (url, { body, ...init }) =>
    http.fetch(url, {
      ...init,
      body: body === null || body === undefined ? null : formOf(body, callbackUrl),
    });
  const configuration = await client.discovery(
    server,
    clientId ?? '',
    undefined,
    (metadata, ...request) => authenticationFor(metadata, clientSecret)(metadata, ...request),
    {
      timeout: TIMEOUT_SECONDS,
      [client.customFetch]: customFetch,
      // Only for hosts of SSO_ALLOWED_HOSTS, or http.fetch would not have asked.
      execute: server.protocol === 'http:' ? [client.allowInsecureRequests] : [],
    },
  );
  // openid-client knows issuers that stand for every tenant of theirs: any of those tenants could name our users.
  const named = configuration.serverMetadata().issuer;
  if (withoutSlash(named) !== withoutSlash(issuer)) throw new Error(`the issuer calls itself ${named}`);
  client.enableNonRepudiationChecks(configuration);
  return configuration;
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

/**
 * openid-client takes the redirect URI from the present address without its query, where ours names the organization:
 * a redirect URI per issuer is the defence against mixed-up providers that needs no support by them (RFC 9700
 * section 4.4.2.2).
 */
function formOf(body: client.FetchBody, redirectUri: string): string {
  const form = new URLSearchParams(String(body));
  if (form.has('redirect_uri')) form.set('redirect_uri', redirectUri);
  return form.toString();
}

/** OpenID Connect Discovery 1.0 section 3: without a word about it a provider takes client_secret_basic. */
function authenticationFor(server: client.ServerMetadata, secret: string | null): client.ClientAuth {
  if (secret === null) return client.None();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic')
    ? client.ClientSecretBasic(secret)
    : client.ClientSecretPost(secret);
}

/** Providers may keep the claims of scopes for the userinfo endpoint (OpenID Connect Core 1.0 section 5.4). */
async function withUserInfo(
  configuration: client.Configuration,
  accessToken: string,
  claims: Claims,
): Promise<Claims> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const userInfo = await client.fetchUserInfo(configuration, accessToken, String(claims['sub']));
  return { ...userInfo, ...claims };
}

function profileOf(claims: Claims): SsoProfile {
  const verified = claims['email_verified'];
  return {
    subject: String(claims['sub']),
    email: textOf(claims['email'])?.toLowerCase(),
    emailVerified: typeof verified === 'boolean' ? verified : undefined,
    name: textOf(claims['name']),
    claims,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** What is not the browser's fault: nobody answers, or answers with a failure of its own. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.cause instanceof Response) return error.cause.status >= 500;
  if (error instanceof client.ClientError) return error.code === undefined || error.code === 'OAUTH_TIMEOUT';
  return error.name === 'TypeError' && error.message === 'fetch failed';
}
