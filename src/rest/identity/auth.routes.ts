import { routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import {
  JsonWebKeySetDocument,
  LoginDocument,
  LogoutDocument,
  RefreshTokensDocument,
} from './auth.generated.js';
import { deviceHeader, withDevice } from './device-fingerprint.js';
import { neverStored } from './never-stored.js';

const tags = ['Authentication'];
/** A verifier that meets an unknown key id asks again by itself (RFC 7517 section 4.5), so five minutes hurt nobody. */
const KEYS_CACHED_SECONDS = 300;

export const authRoutes = routes(import.meta.url, [
  route(LoginDocument, {
    method: 'POST',
    path: '/v1/auth/login',
    access: 'public',
    security: [],
    tags,
    summary: 'Log in with e-mail address and password',
    headers: deviceHeader,
    body: { variable: 'input' },
    variables: withDevice,
    nulls: { assertionOptions: 'omit' },
    status: ({ login }) => ('mfaToken' in login ? 202 : 200),
    responseHeaders: neverStored,
  }),
  route(RefreshTokensDocument, {
    method: 'POST',
    path: '/v1/auth/refresh',
    access: 'public',
    security: [],
    tags,
    summary: 'Exchange a refresh token, once, for a new pair of tokens',
    headers: deviceHeader,
    body: { variable: 'input' },
    variables: withDevice,
    status: 200,
    responseHeaders: neverStored,
  }),
  route(LogoutDocument, {
    method: 'POST',
    path: '/v1/auth/logout',
    tags,
    summary: 'Revoke every active session of the caller',
    status: 200,
  }),
  route(JsonWebKeySetDocument, {
    method: 'GET',
    path: '/v1/.well-known/jwks.json',
    access: 'public',
    security: [],
    tags,
    summary: 'The public keys that verify access tokens',
    responseHeaders: () => ({ 'cache-control': `public, max-age=${KEYS_CACHED_SECONDS}` }),
  }),
]);
