import type { Adapter, ClientMetadata } from 'oidc-provider';
import type { Services } from '../context.js';
import { OidcClient } from '../entities/identity/oidc-client.js';
import { query } from './query.js';

/** Clients are rows of their own table, written by whoever administers them and never by the issuer. */
export function clientStore(services: Pick<Services, 'orm' | 'secrets'>): Adapter {
  const readOnly = async (): Promise<never> => {
    throw new Error('The issuer does not write clients');
  };
  return {
    async find(clientId) {
      const client = await query(services, (em) => em.findOne(OidcClient, { clientId }));
      return client ? metadataOf(client, services.secrets) : undefined;
    },
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    upsert: readOnly,
    consume: readOnly,
    destroy: readOnly,
    revokeByGrantId: readOnly,
  };
}

function metadataOf(client: OidcClient, secrets: Services['secrets']): ClientMetadata {
  if (client.kind === 'public') {
    return {
      client_id: client.clientId,
      // A native client may be redirected to any port of the loopback address it registered (RFC 8252 section 7.3).
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: client.redirectUris,
    };
  }
  if (client.sealedSecret === null)
    throw new Error(`The confidential client ${client.clientId} has no secret`);
  return {
    client_id: client.clientId,
    client_secret: secrets.open(client.sealedSecret),
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  };
}
