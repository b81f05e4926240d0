import { routes } from 'rest-graphql-bridge';
import { route } from '../route.js';
import { LockUserDocument, UnlockUserDocument } from './user-lock.generated.js';

const tags = ['Users'];

export const userLockRoutes = routes(import.meta.url, [
  route(LockUserDocument, {
    method: 'POST',
    path: '/v1/users/:id/lock',
    tags,
    summary: 'Keep a user out and end their sessions',
    variables: ({ params }) => ({ id: params.id }),
    status: 200,
  }),
  route(UnlockUserDocument, {
    method: 'POST',
    path: '/v1/users/:id/unlock',
    tags,
    summary: 'Let a user in again, also after failed logins',
    variables: ({ params }) => ({ id: params.id }),
    status: 200,
  }),
]);
