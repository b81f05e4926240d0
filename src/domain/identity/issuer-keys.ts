import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { unavailable } from '../../errors.js';
import type { SigningKeys } from './signing-keys.js';
import { tokenInvalid } from './token-error.js';

/** Whose platform tokens are believed, and what they are verified with. */
export interface IssuerKeys {
  /** @throws SERVICE_UNAVAILABLE while the issuer can't be asked who it is. */
  accepts(issuer: unknown): Promise<boolean>;
  /** What an issuer of several addresses is called in links to users; otherwise its own name. */
  name?: string;
  /** @throws TOKEN_INVALID for an unknown key, SERVICE_UNAVAILABLE while the keys can't be had. */
  key: JWTVerifyGetKey;
  algorithms: string[];
  /** The `typ` header that is compulsory, where the issuer is known to send one. */
  typ?: string;
}

const SERVICE = 'oidc';
/** So that links survive a new PUBLIC_URL and are good on every node. */
const EMBEDDED_ISSUER = 'urn:opsgraph:oidc';
const TIMEOUT_MS = 5_000;
/** After a failure the issuer is left alone for so long; callers are told to come back then. */
const RETRY_AFTER_MS = 1_000;
const DOCUMENT_FRESH_MS = 3_600_000;
/** How often an unknown key id may make us ask for the keys again. */
const KEYS_COOLDOWN_MS = 1_000;

/** Asymmetric ones only: with HMAC a public key would be a secret (RFC 8725 section 2.1). */
const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
];

/** OpenID Connect Discovery 1.0 section 4.2, as far as it is used. */
const discoveryDocument = z.object({ issuer: z.url(), jwks_uri: z.url() });

type Discovery = z.output<typeof discoveryDocument>;

interface Discovered {
  issuer: string;
  /** What it was made of: keys that were read stay until one of these changes. */
  source: string;
  key: JWTVerifyGetKey;
}

/** An issuer somebody else runs, known by the address of its discovery document. */
export function discoveredIssuer(discoveryUrl: string): IssuerKeys {
  let known: Discovered | undefined;
  let asking: Promise<Discovered> | undefined;
  let nextAt = 0;
  let failure: unknown;

  async function ask(): Promise<Discovered> {
    try {
      const document = await fetchDiscovery(discoveryUrl);
      known = known?.source === sourceOf(document) ? known : discover(document);
      nextAt = performance.now() + DOCUMENT_FRESH_MS;
      failure = undefined;
      return known;
    } catch (error) {
      nextAt = performance.now() + RETRY_AFTER_MS;
      failure = error;
      if (known) return known;
      throw issuerAway(error);
    } finally {
      asking = undefined;
    }
  }

  async function issuer(): Promise<Discovered> {
    if (performance.now() < nextAt) {
      if (known) return known;
      if (failure !== undefined) throw issuerAway(failure);
    }
    asking ??= ask();
    return asking;
  }

  return {
    algorithms: signatureAlgorithms,
    accepts: async (name) => (await issuer()).issuer === name,
    key: async (header, token) => (await issuer()).key(header, token),
  };
}

function sourceOf({ issuer, jwks_uri }: Discovery): string {
  return `${issuer} ${jwks_uri}`;
}

function discover(document: Discovery): Discovered {
  const { issuer, jwks_uri } = document;
  const remote = createRemoteJWKSet(new URL(jwks_uri), {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: KEYS_COOLDOWN_MS,
  });
  return {
    issuer,
    source: sourceOf(document),
    key: async (header, token) => {
      try {
        return await remote(header, token);
      } catch (error) {
        throw isTokensFault(error) ? tokenInvalid(error) : issuerAway(error);
      }
    },
  };
}

/** With several keys a token has to say which (OpenID Connect Core 1.0 section 10.1). */
function isTokensFault(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}

async function fetchDiscovery(url: string): Promise<Discovery> {
  const headers = { accept: 'application/json' };
  const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`The discovery document answers ${response.status}`);
  return discoveryDocument.parse(await response.json());
}

function issuerAway(cause: unknown) {
  return unavailable(SERVICE, RETRY_AFTER_MS / 1_000, cause);
}

/**
 * The issuer embedded in this installation. Its keys are rows that every node reads, so no node asks another, or
 * itself, over HTTP. Without a public address each node names itself by its own loopback address; the key already
 * proves that one of them signed, so any of those names is good.
 */
export function embeddedIssuer(publicUrl: string | undefined, keys: SigningKeys): IssuerKeys {
  return {
    name: EMBEDDED_ISSUER,
    algorithms: ['RS256'],
    typ: 'at+jwt',
    accepts: async (name) => (publicUrl === undefined ? isOidcPath(name) : name === `${publicUrl}/oidc`),
    key: async ({ kid }) => {
      const key = kid === undefined ? undefined : await keys.verificationKey(kid);
      if (key === undefined) throw tokenInvalid();
      return key;
    },
  };
}

function isOidcPath(name: unknown): boolean {
  const url = typeof name === 'string' ? URL.parse(name) : null;
  return url?.protocol === 'http:' && url.pathname === '/oidc';
}
