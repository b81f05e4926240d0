import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { Config } from '../../../config.js';
import type { User } from '../../../entities/identity/user.js';
import { WebauthnCredential } from '../../../entities/identity/webauthn-credential.js';
import { expectedOrigins, relyingPartyId, SERVICE_NAME } from './relying-party.js';

type Deployment = Pick<Config, 'publicUrl'>;
export type Assertion = AuthenticationResponseJSON;
export type Attestation = RegistrationResponseJSON;

export function credentialsOf(em: EntityManager, userId: string): Promise<WebauthnCredential[]> {
  return em.find(WebauthnCredential, { userId }, { filters: false, limit: MAX_CREDENTIALS });
}

/** Of one user: a phone, a laptop and some keys. */
export const MAX_CREDENTIALS = 10;

/** For navigator.credentials.create; its challenge is to be kept. */
export async function creationOptions(
  config: Deployment,
  user: Pick<User, 'id' | 'email' | 'name'>,
  known: readonly WebauthnCredential[],
  timeoutMs: number,
) {
  return generateRegistrationOptions({
    rpName: SERVICE_NAME,
    rpID: relyingPartyId(config),
    userID: Uint8Array.from(Buffer.from(user.id)),
    userName: user.email,
    userDisplayName: user.name,
    timeout: timeoutMs,
    attestationType: 'none',
    excludeCredentials: known.map(descriptor),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
  });
}

/** The new credential; undefined when the answer does not hold. */
export async function verifyAttestation(
  config: Deployment,
  expectedChallenge: string,
  response: Attestation,
): Promise<Pick<WebauthnCredential, 'id' | 'publicKey' | 'counter' | 'transports'> | undefined> {
  const verify = () =>
    verifyRegistrationResponse({
      response,
      expectedChallenge,
      expectedOrigin: expectedOrigins(config, response.response.clientDataJSON),
      expectedRPID: relyingPartyId(config),
      requireUserVerification: false,
    });
  const { registrationInfo } = (await held(verify)) ?? {};
  if (!registrationInfo) return undefined;
  const { id, publicKey, counter, transports } = registrationInfo.credential;
  return {
    id,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports: transports ?? [],
  };
}

/** For navigator.credentials.get; its challenge is to be kept. */
export async function assertionOptions(
  config: Deployment,
  known: readonly WebauthnCredential[],
  timeoutMs: number,
) {
  return generateAuthenticationOptions({
    rpID: relyingPartyId(config),
    allowCredentials: known.map(descriptor),
    timeout: timeoutMs,
    userVerification: 'preferred',
  });
}

/** The signature counter after this use; undefined when the answer does not hold. */
export async function verifyAssertion(
  config: Deployment,
  expectedChallenge: string,
  credential: WebauthnCredential,
  response: Assertion,
): Promise<number | undefined> {
  const { id, publicKey, counter } = credential;
  const verify = () =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge,
      expectedOrigin: expectedOrigins(config, response.response.clientDataJSON),
      expectedRPID: relyingPartyId(config),
      credential: { id, publicKey: Uint8Array.from(Buffer.from(publicKey, 'base64url')), counter },
      // The password was the first factor: presence is what this one adds (WebAuthn section 6.1, UP).
      requireUserVerification: false,
    });
  const result = await held(verify);
  return result?.verified ? result.authenticationInfo.newCounter : undefined;
}

/** The library throws plain errors for everything that does not hold, malformed answers among them. */
async function held<T>(verify: () => Promise<T>): Promise<T | undefined> {
  try {
    return await verify();
  } catch {
    return undefined;
  }
}

function descriptor({ id, transports }: WebauthnCredential) {
  return { id, transports: transports as NonNullable<Attestation['response']['transports']> };
}
