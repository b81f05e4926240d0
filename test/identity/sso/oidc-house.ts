import { Writable } from 'node:stream';
import { expect } from '@jest/globals';
import { pino } from 'pino';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type OidcIdentityProvider,
  startOidcIdentityProvider,
} from './oidc-identity-provider.js';
import { CLIENT_REDIRECT, callbackUrl, openSsoHouse, type SsoHouse } from './sso-house.js';

export const REFUSED = { status: 401, body: { success: false, error: { code: 'AUTHENTICATION_ERROR' } } };

export interface OidcHouse {
  house: SsoHouse;
  idp: OidcIdentityProvider;
  /** Ids of the organization's three providers, by kind. */
  providerIds: Readonly<Record<string, string>>;
  /** Every line of the server's log, from trace on. */
  logged: readonly string[];
  close(): Promise<void>;
}

/** The whole server, and one OpenID provider that acme knows under three kinds. */
export async function openOidcHouse(): Promise<OidcHouse> {
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const house = await openSsoHouse({ log: pino({ level: 'trace' }, sink) });
  const { app, acmeAdmin } = house;
  const kinds = ['directory-oidc', 'workspace-oidc', 'oidc'];
  const idp = await startOidcIdentityProvider(kinds.map((kind) => callbackUrl(app, kind)));
  const oidc = {
    issuer: idp.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    redirectUris: [CLIENT_REDIRECT],
  };
  const providers = [
    { provider: 'directory-oidc', name: 'Directory', defaultRole: 'service_desk_agent', ...oidc },
    {
      provider: 'workspace-oidc',
      name: 'Workspace',
      scopes: ['email', 'profile', 'groups'],
      provisionUsers: true,
      groupRoles: [
        { group: 'g-desk', role: 'service_desk_agent' },
        { group: 'g-lead', role: 'service_desk_manager' },
        { group: 'g-admin', role: 'tenant_admin' },
      ],
      ...oidc,
    },
    { provider: 'oidc', name: 'Generic', ...oidc },
  ];
  const providerIds: Record<string, string> = {};
  for (const provider of providers) {
    const { status, body } = await acmeAdmin('POST', '/v1/sso-providers', provider);
    expect(status).toBe(201);
    providerIds[provider.provider] = body.id;
  }
  return {
    house,
    idp,
    providerIds,
    logged,
    async close() {
      await idp.close();
      await house.close();
    },
  };
}

export function errorCodeOf(html: string): string {
  return JSON.parse(html).error.code;
}
