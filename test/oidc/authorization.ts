import * as client from 'openid-client';
import { DEMO_PASSWORD } from '../../src/domain/identity/index.js';
import { Browser } from './browser.js';

/** Any port of the loopback address is good for the public demo client; nothing listens there. */
export const REDIRECT_URI = 'http://127.0.0.1:49152/callback';

export function discover(
  issuer: string,
  clientId: string,
  secret?: string,
  authentication?: client.ClientAuth,
) {
  const insecure = { execute: [client.allowInsecureRequests] };
  return client.discovery(new URL(issuer), clientId, secret, authentication, insecure);
}

/** The address a client sends a browser to. */
export async function begin(issuer: string, overrides: Record<string, string> = {}) {
  const configuration = await discover(issuer, 'opsgraph-ui', undefined, client.None());
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const address = client.buildAuthorizationUrl(configuration, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...overrides,
  });
  return { configuration, verifier, state, address: address.href };
}

/** Logs in and consents as a browser would; `exchange` is what the client then does with the code. */
export async function authorize(issuer: string, email: string, overrides: Record<string, string> = {}) {
  const browser = new Browser();
  const { configuration, verifier, state, address } = await begin(issuer, overrides);
  const loginPage = await browser.visit(address, REDIRECT_URI);
  const consentPage = await browser.submit(loginPage, '/login', REDIRECT_URI, {
    email,
    password: DEMO_PASSWORD,
  });
  const { url } = await browser.submit(consentPage, '/consent', REDIRECT_URI);
  const exchange = () =>
    client.authorizationCodeGrant(configuration, url, { pkceCodeVerifier: verifier, expectedState: state });
  return { configuration, url, exchange, verifier };
}
