import { decodeJwt } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Caller, ItsmPrincipal, ItsmTokens, PlatformTokens, Services } from '../../context.js';
import { AppError } from '../../errors.js';
import { type ApiKeyVerifier, createApiKeyVerifier } from './api-keys/verify-api-key.js';
import { createTenantChoice, type TenantChoice } from './cross-tenant.js';
import { createDeviceCheck, type DeviceCheck } from './device-fingerprint.js';
import { ITSM_ISSUER } from './itsm-tokens.js';
import { createIdentityLinks, type IdentityLinks } from './links/identity-links.js';
import { tokenError, tokenInvalid } from './token-error.js';

/** Which tokens a door takes: /v1 only ours, /api/v1 only the issuer's, /graphql both. */
export type Door = 'itsm' | 'platform' | 'either';

/** What a request brought to say who sent it. */
export interface SentCredentials {
  readonly authorization?: string | undefined;
  /** X-API-Key. */
  readonly apiKey?: string | undefined;
  /**
   * The access token of the browser's cookie; asked for only when nothing else was sent.
   * @throws AUTHORIZATION_ERROR when another site may have made the browser send it
   */
  cookieToken?(): string | undefined;
  /** X-Linked-Authorization: at /graphql, the same person's token of the other side. */
  readonly linkedAuthorization?: string | undefined;
  /** X-Tenant-Slug. */
  readonly tenantSlug?: string | undefined;
  readonly deviceFingerprint?: string | undefined;
}

export interface Authenticator {
  /**
   * Who sent a request; nobody when it carries no credential. The first that is there counts, in the order of
   * SentCredentials, and a bad one is an error and never makes way for another.
   * @throws TOKEN_INVALID, TOKEN_EXPIRED, AUTHENTICATION_ERROR, AUTHORIZATION_ERROR, SERVICE_UNAVAILABLE
   */
  authenticate(sent: SentCredentials, door: Door): Promise<Caller>;
  /** The same for a token that came another way, such as in the first message of a WebSocket. */
  authenticateBearer(token: string, door: Door): Promise<Caller>;
  close(): Promise<void>;
}

type Kind = Exclude<Door, 'either'>;
/** About 1.5 KB each: 15 MB when full. */
const MAX_KINDS = 10_000;

interface Verifiers {
  itsm: ItsmTokens;
  platform: PlatformTokens;
  /** Of tokens that were good: reading the issuer out of one takes 9 µs, as long as everything else about it. */
  kinds: LRUCache<string, Kind>;
  apiKeys: ApiKeyVerifier;
  links: IdentityLinks;
  devices: DeviceCheck;
  tenants: TenantChoice;
}

export function createAuthenticator(
  services: Pick<Services, 'itsmTokens' | 'platformTokens' | 'orm' | 'wake' | 'now' | 'log'>,
): Authenticator {
  const apiKeys = createApiKeyVerifier(services);
  const links = createIdentityLinks(services);
  const verifiers: Verifiers = {
    itsm: services.itsmTokens,
    platform: services.platformTokens,
    kinds: new LRUCache({ max: MAX_KINDS }),
    apiKeys,
    links,
    devices: createDeviceCheck(services),
    tenants: createTenantChoice(services),
  };
  return {
    authenticate: (sent, door) => authenticate(verifiers, sent, door),
    authenticateBearer: (token, door) => verifyToken(verifiers, token, door),
    async close() {
      links.close();
      await apiKeys.close();
    },
  };
}

async function authenticate(verifiers: Verifiers, sent: SentCredentials, door: Door): Promise<Caller> {
  const first = await firstCaller(verifiers, sent, door);
  const { linkedAuthorization, deviceFingerprint, tenantSlug } = sent;
  const caller =
    door === 'either' && linkedAuthorization !== undefined
      ? await withOtherSide(verifiers, first, linkedAuthorization)
      : first;
  if (deviceFingerprint !== undefined && isPerson(caller.itsm))
    await verifiers.devices.require(caller.itsm, deviceFingerprint);
  if (tenantSlug === undefined || !caller.itsm) return caller;
  const itsm = await verifiers.tenants.choose(caller.itsm, tenantSlug);
  if (caller.platform && caller.platform.organizationId !== itsm.organizationId)
    throw new AppError('AUTHORIZATION_ERROR', 'Both tokens must speak for one organization');
  return { ...caller, itsm };
}

async function firstCaller(verifiers: Verifiers, sent: SentCredentials, door: Door): Promise<Caller> {
  if (sent.authorization !== undefined) return verifyToken(verifiers, bearerOf(sent.authorization), door);
  if (door === 'platform') return {};
  if (sent.apiKey !== undefined)
    return { itsm: await verifiers.apiKeys.verify(sent.apiKey, sent.tenantSlug) };
  const token = sent.cookieToken?.();
  return token === undefined ? {} : { itsm: await verifiers.itsm.verify(token) };
}

async function verifyToken(verifiers: Verifiers, token: string, door: Door): Promise<Caller> {
  if (door !== 'either') return verifyKind(verifiers, token, door);
  const known = verifiers.kinds.get(token);
  if (known !== undefined) return verifyKind(verifiers, token, known);
  const kind = kindOf(token);
  const caller = await verifyKind(verifiers, token, kind);
  verifiers.kinds.set(token, kind);
  return caller;
}

async function verifyKind({ itsm, platform }: Verifiers, token: string, kind: Kind): Promise<Caller> {
  if (kind === 'itsm') return { itsm: await itsm.verify(token) };
  return { platform: await platform.verify(token) };
}

/** Each side is proven by its own token, with its own end; the link only says that both are one person. */
async function withOtherSide(verifiers: Verifiers, first: Caller, authorization: string): Promise<Caller> {
  const token = bearerOf(authorization);
  const itsm = first.itsm ?? (await verifiers.itsm.verify(token));
  if (!first.itsm && !first.platform)
    throw new AppError('AUTHENTICATION_ERROR', 'X-Linked-Authorization comes beside Authorization');
  const platform = first.platform ?? (await verifiers.platform.verify(token));
  if (!isPerson(itsm) || !(await verifiers.links.joined(itsm, platform)))
    throw new AppError('AUTHORIZATION_ERROR', 'The two tokens do not belong to a linked user');
  return { itsm, platform };
}

function isPerson(caller: ItsmPrincipal | undefined): caller is ItsmPrincipal {
  return caller !== undefined && caller.apiKey === undefined;
}

/** RFC 6750 section 2.1; the scheme's name has no case (RFC 9110 section 11.1). */
const BEARER = /^Bearer +([\w\-.~+/]+=*) *$/i;
const USUAL = 'Bearer ey';

/** As everybody writes it, a token goes to its verifier unlooked at: the expression takes 2 µs over 1.5 KB. */
function bearerOf(authorization: string): string {
  if (authorization.startsWith(USUAL) && !authorization.endsWith(' ')) return authorization.slice(7);
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw tokenInvalid();
  return token;
}

/** The unverified issuer only chooses the verifier, which then demands that very issuer. */
function kindOf(token: string): Kind {
  try {
    return decodeJwt(token).iss === ITSM_ISSUER ? 'itsm' : 'platform';
  } catch (error) {
    throw tokenError(error);
  }
}
