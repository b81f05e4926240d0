import { routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import {
  ChangePasswordDocument,
  RequestPasswordResetDocument,
  ResetPasswordDocument,
} from './password.generated.js';

const tags = ['Authentication'];

export const passwordRoutes = routes(import.meta.url, [
  route(RequestPasswordResetDocument, {
    method: 'POST',
    path: '/v1/auth/password/forgot',
    access: 'public',
    security: [],
    tags,
    summary: 'Ask for a link that sets a new password; the answer is the same for every address',
    body: { variable: 'input' },
    status: 200,
  }),
  route(ResetPasswordDocument, {
    method: 'POST',
    path: '/v1/auth/password/reset',
    access: 'public',
    security: [],
    tags,
    summary: 'Set a password with the token of a link, once; every session ends',
    body: { variable: 'input' },
    status: 200,
  }),
  route(ChangePasswordDocument, {
    method: 'POST',
    path: '/v1/auth/password/change',
    tags,
    summary: 'Change the own password; every other session ends',
    body: { variable: 'input' },
    status: 200,
  }),
]);
