import { createHash, randomBytes } from 'node:crypto';
import { Browser } from '../../oidc/browser.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.js';
import { type Answer, type Call, caller } from '../../support/rest.js';

export const CLIENT_REDIRECT = 'http://127.0.0.1:49153/signed-in';

export interface SsoHouse {
  app: TestApp;
  anonymous: Call;
  acmeAdmin: Call;
  globexAdmin: Call;
  close(): Promise<void>;
}

/** The whole server, which may reach providers on loopback addresses. */
export async function openSsoHouse(options: TestAppOptions = {}): Promise<SsoHouse> {
  const app = await startTestApp({ SSO_ALLOWED_HOSTS: '127.0.0.1' }, options);
  return {
    app,
    anonymous: caller(app.url),
    acmeAdmin: caller(app.url, await app.itsm('admin@acme.test')),
    globexAdmin: caller(app.url, await app.itsm('admin@globex.test')),
    close: () => app.close(),
  };
}

export function callbackUrl(app: { url: string }, provider: string, tenant = 'acme'): string {
  return `${app.url}/v1/auth/sso/${provider}/callback?tenant=${tenant}`;
}

export interface Client {
  verifier: string;
  state: string;
  /** Where it sends the browser. */
  address: string;
}

/** What an application does before it sends a browser to us. A parameter set to undefined is left out. */
export function beginAsClient(
  app: { url: string },
  provider: string,
  overrides: Record<string, string | undefined> = {},
): Client {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(8).toString('hex');
  const parameters = {
    tenant: 'acme',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    redirect_uri: CLIENT_REDIRECT,
    state,
    ...overrides,
  };
  const present = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const address = `${app.url}/v1/auth/sso/${provider}?${new URLSearchParams(present)}`;
  return { verifier, state, address };
}

/** As far as the address that starts with `stopAt`, or the page that ends it. */
export function browse(client: Client, stopAt: string, browser = new Browser()) {
  return browser.visit(client.address, stopAt);
}

/** From the provider all the way to the application, which then asks for the tokens. */
export async function logInWith(
  { app, anonymous }: SsoHouse,
  provider: string,
  overrides: Record<string, string | undefined> = {},
): Promise<Answer> {
  const client = beginAsClient(app, provider, overrides);
  const { url, response, html } = await browse(client, CLIENT_REDIRECT);
  if (!url.href.startsWith(CLIENT_REDIRECT))
    return { status: response.status, headers: response.headers, body: JSON.parse(html) };
  return anonymous('POST', '/v1/auth/sso/token', {
    code: url.searchParams.get('code'),
    code_verifier: client.verifier,
  });
}
