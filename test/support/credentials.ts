import { DEMO_PASSWORD } from '../../src/domain/identity/demo-tenants.js';

/** The Authorization header of a demo client. */
export async function clientCredential(url: string, clientId: string): Promise<Record<string, string>> {
  const response = await fetch(`${url}/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: DEMO_PASSWORD,
    }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return { authorization: `Bearer ${access_token}` };
}

/** The Authorization header of a demo user. */
export async function userCredential(url: string, email: string): Promise<Record<string, string>> {
  const response = await fetch(`${url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: DEMO_PASSWORD }),
  });
  const { accessToken } = (await response.json()) as { accessToken: string };
  return { authorization: `Bearer ${accessToken}` };
}
