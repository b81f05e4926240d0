import type { Config } from '../../../config.js';

export const SERVICE_NAME = 'Opsgraph';

/** The domain credentials are bound to. Browsers take no IP address for one, so without PUBLIC_URL it is localhost. */
export function relyingPartyId({ publicUrl }: Pick<Config, 'publicUrl'>): string {
  return publicUrl === undefined ? 'localhost' : new URL(publicUrl).hostname;
}

/**
 * The origins an authenticator may have signed for: the public one, or any port of localhost where there is none.
 * @param clientData base64url of what the browser says the authenticator signed; not trusted before it is verified
 */
export function expectedOrigins({ publicUrl }: Pick<Config, 'publicUrl'>, clientData: string): string[] {
  if (publicUrl !== undefined) return [new URL(publicUrl).origin];
  const { origin } = JSON.parse(Buffer.from(clientData, 'base64url').toString()) as { origin?: unknown };
  if (typeof origin !== 'string' || !URL.canParse(origin)) return [];
  return new URL(origin).hostname === 'localhost' ? [origin] : [];
}
