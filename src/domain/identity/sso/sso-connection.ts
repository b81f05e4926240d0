import { createHash } from 'node:crypto';
import type { Services } from '../../../context.js';
import type { SsoProvider } from '../../../entities/identity/sso-provider.js';
import type { SsoConnection, SsoProtocol } from '../../../integrations/sso/sso-protocol.js';

/** Our own addresses towards one provider of one organization. */
export interface SsoAddresses {
  callbackUrl: string;
  entityId: string;
}

/**
 * The organization is part of both: two providers never share a redirect URI (RFC 9700 section 4.4.2.2) or an
 * audience, so that the answer of one is never good for the other.
 * @param baseUrl as clients know this installation, never from a Host header
 */
export function ssoAddresses(baseUrl: string, provider: string, tenant: string): SsoAddresses {
  const query = new URLSearchParams({ tenant });
  return {
    callbackUrl: `${baseUrl}/v1/auth/sso/${provider}/callback?${query}`,
    entityId: `${baseUrl}/v1/auth/sso/${provider}/metadata?${query}`,
  };
}

export function ssoConnection(
  { secrets }: Pick<Services, 'secrets'>,
  provider: SsoProvider,
  addresses: SsoAddresses,
): SsoConnection {
  const { id, issuer, clientId, sealedClientSecret, scopes, entryPoint, certificates } = provider;
  return {
    id,
    version: provider.updatedAt.toISOString(),
    issuer,
    clientId,
    clientSecret: sealedClientSecret === null ? null : secrets.open(sealedClientSecret),
    scopes,
    entryPoint,
    certificates,
    ...addresses,
  };
}

export function protocolOf(
  { singleSignOn }: Pick<Services, 'singleSignOn'>,
  { provider }: SsoProvider,
): SsoProtocol {
  return provider === 'saml' ? singleSignOn.saml : singleSignOn.oidc;
}

/** States and codes have 256 random bits, so a plain hash gives nothing away. */
export function ssoHash(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
