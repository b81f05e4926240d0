import { decodeJwt } from 'jose';
import type { Caller, ItsmTokens, PlatformTokens } from '../../context.js';
import { ITSM_ISSUER } from './itsm-tokens.js';
import { tokenError, tokenInvalid } from './token-error.js';

/** Which tokens a door takes: /v1 only ours, /api/v1 only the issuer's, /graphql both. */
export type Door = 'itsm' | 'platform' | 'either';

export interface Authenticator {
  /**
   * Who sent a request; nobody when it carries no credential. A bad Authorization header is an error and never makes
   * way for another credential.
   * @throws TOKEN_INVALID, TOKEN_EXPIRED, AUTHORIZATION_ERROR, SERVICE_UNAVAILABLE
   */
  authenticate(headers: { readonly authorization?: string | undefined }, door: Door): Promise<Caller>;
  /** The same for a token that came another way, such as in the first message of a WebSocket. */
  authenticateBearer(token: string, door: Door): Promise<Caller>;
}

/** RFC 6750 section 2.1; the scheme's name has no case (RFC 9110 section 11.1). */
const BEARER = /^Bearer +([\w\-.~+/]+=*) *$/i;

export function createAuthenticator(tokens: { itsm: ItsmTokens; platform: PlatformTokens }): Authenticator {
  async function authenticateBearer(token: string, door: Door): Promise<Caller> {
    const kind = door === 'either' ? kindOf(token) : door;
    if (kind === 'itsm') return { itsm: await tokens.itsm.verify(token) };
    return { platform: await tokens.platform.verify(token) };
  }

  return {
    authenticateBearer,
    async authenticate({ authorization }, door) {
      if (authorization === undefined) return {};
      const token = BEARER.exec(authorization)?.[1];
      if (token === undefined) throw tokenInvalid();
      return authenticateBearer(token, door);
    },
  };
}

/** The unverified issuer only chooses the verifier, which then demands that very issuer. */
function kindOf(token: string): 'itsm' | 'platform' {
  try {
    return decodeJwt(token).iss === ITSM_ISSUER ? 'itsm' : 'platform';
  } catch (error) {
    throw tokenError(error);
  }
}
