import { param, routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import {
  ConfirmMfaDocument,
  RegenerateBackupCodesDocument,
  RemoveMfaDocument,
  SetUpMfaDocument,
  VerifyMfaDocument,
} from './mfa.generated.js';
import { neverStored } from './never-stored.js';

const tags = ['Authentication'];

export const mfaRoutes = routes(import.meta.url, [
  route(VerifyMfaDocument, {
    method: 'POST',
    path: '/v1/auth/mfa/verify',
    access: 'public',
    security: [],
    tags,
    summary: 'Exchange the challenge of a login and one second factor for tokens',
    body: { variable: 'input' },
    status: 200,
    responseHeaders: neverStored,
  }),
  route(SetUpMfaDocument, {
    method: 'POST',
    path: '/v1/auth/mfa/setup',
    tags,
    summary: 'Begin to set up a second factor',
    description:
      'Answers with secret and otpauthUri for totp, with the creation options themselves for webauthn.',
    body: { variable: 'input' },
    select: ({ setUpMfa: { creationOptions, secret, otpauthUri } }) =>
      creationOptions ?? { secret, otpauthUri },
    responseSchema: { type: 'object' },
    status: 201,
    responseHeaders: neverStored,
  }),
  route(ConfirmMfaDocument, {
    method: 'POST',
    path: '/v1/auth/mfa/setup/confirm',
    tags,
    summary: 'Prove a second factor; logins ask for one from now on',
    body: { variable: 'input' },
    status: 200,
    responseHeaders: neverStored,
  }),
  route(RegenerateBackupCodesDocument, {
    method: 'POST',
    path: '/v1/auth/mfa/backup-codes',
    tags,
    summary: 'Ten new backup codes in place of the old ones',
    status: 200,
    responseHeaders: neverStored,
  }),
  route(RemoveMfaDocument, {
    method: 'DELETE',
    path: '/v1/auth/mfa/:method',
    tags,
    summary: 'Remove a second factor',
    params: { method: param.oneOf(['totp', 'webauthn', 'backup_codes']) },
    variables: ({ params }) => ({ method: params.method }),
    response: 'none',
    status: 204,
  }),
]);
