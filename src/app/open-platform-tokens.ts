import type { PlatformTokens, Services } from '../context.js';
import {
  createPlatformTokens,
  createSigningKeys,
  discoveredIssuer,
  embeddedIssuer,
} from '../domain/identity/index.js';
import type { OnClose } from './on-close.js';

/** Verifies with the keys of the issuer that the configuration names, or of the embedded one. */
export function openPlatformTokens(
  services: Pick<Services, 'config' | 'orm' | 'secrets' | 'wake' | 'now' | 'log'>,
  onClose: OnClose,
): PlatformTokens {
  const { oidcDiscoveryUrl, oidcAudience: audience, publicUrl } = services.config;
  if (oidcDiscoveryUrl !== undefined)
    return createPlatformTokens({ issuer: discoveredIssuer(oidcDiscoveryUrl), audience, services });
  const keys = createSigningKeys(services, 'oidc');
  onClose('platform token keys', () => keys.close());
  return createPlatformTokens({ issuer: embeddedIssuer(publicUrl, keys), audience, services });
}
