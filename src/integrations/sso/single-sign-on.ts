import { createPublicFetch } from '../http/public-fetch.js';
import { createOidcRelyingParty } from './oidc-relying-party.js';
import { createSamlServiceProvider } from './saml-service-provider.js';
import type { SingleSignOn } from './sso-protocol.js';

/** @param allowedHosts hosts of providers that may be private and speak plain HTTP */
export function createSingleSignOn({
  allowedHosts,
  now,
}: {
  allowedHosts: readonly string[];
  now(): Date;
}): SingleSignOn {
  const http = createPublicFetch(allowedHosts);
  return {
    oidc: createOidcRelyingParty(http),
    saml: createSamlServiceProvider({ now }),
    problemOf: http.problemOf,
    close: () => http.close(),
  };
}
