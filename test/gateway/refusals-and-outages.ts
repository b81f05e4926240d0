import { GraphQLError } from 'graphql';
import { AppError, conflict, notFound, unavailable } from '../../src/errors.js';
import { type Expected, type FailureCase, throwing } from './failure-case.js';

const away = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
const mongoAway = Object.assign(new Error('no server'), { name: 'MongoServerSelectionError' });

const unexpected = {
  status: 500,
  itsm: { code: 'INTERNAL_ERROR', message: 'An unexpected error occurred', details: null },
  platform: { error: 'INTERNAL_ERROR', message: 'An unexpected error occurred' },
};

const awayAs = (service: string): Expected => ({
  status: 503,
  headers: { 'retry-after': '5' },
  itsm: {
    code: 'SERVICE_UNAVAILABLE',
    message: `${service} is unavailable`,
    details: { service, retryAfter: 5 },
  },
  platform: { error: 'SERVICE_UNAVAILABLE', message: `${service} is unavailable`, service },
});

const refusedToken = (code: 'TOKEN_EXPIRED' | 'TOKEN_INVALID', challenge: string): Expected => ({
  status: 401,
  headers: { 'www-authenticate': challenge },
  itsm: { code, message: 'no', details: null },
  platform: { error: 'UNAUTHORIZED', message: 'no' },
});

/** Refusals of the domain and failures of the house, and what both surfaces answer, field by field. */
export const REFUSALS_AND_OUTAGES: readonly FailureCase[] = [
  {
    name: 'no credential',
    context: () => {
      throw new AppError('AUTHENTICATION_ERROR', 'A token is required');
    },
    status: 401,
    headers: { 'www-authenticate': 'Bearer realm="opsgraph"' },
    itsm: { code: 'AUTHENTICATION_ERROR', message: 'A token is required', details: null },
    platform: { error: 'UNAUTHORIZED', message: 'A token is required' },
  },
  {
    name: 'an expired token',
    context: () => {
      throw new AppError('TOKEN_EXPIRED', 'no');
    },
    ...refusedToken(
      'TOKEN_EXPIRED',
      'Bearer realm="opsgraph", error="invalid_token", error_description="The token expired"',
    ),
  },
  {
    name: 'a refused token',
    context: () => {
      throw new AppError('TOKEN_INVALID', 'no');
    },
    ...refusedToken('TOKEN_INVALID', 'Bearer realm="opsgraph", error="invalid_token"'),
  },
  {
    name: 'a role that does not suffice',
    ...throwing(
      new AppError('AUTHORIZATION_ERROR', 'Not yours', {
        details: { requiredRole: 'tenant_admin', currentRole: 'end_user' },
      }),
    ),
    status: 403,
    itsm: {
      code: 'AUTHORIZATION_ERROR',
      message: 'Not yours',
      details: { requiredRole: 'tenant_admin', currentRole: 'end_user' },
    },
    platform: { error: 'FORBIDDEN', message: 'Not yours' },
  },
  {
    name: 'a locked account',
    ...throwing(new AppError('ACCOUNT_LOCKED', 'Locked', { details: { retryAfter: 900 } })),
    status: 403,
    itsm: { code: 'ACCOUNT_LOCKED', message: 'Locked', details: { retryAfter: 900 } },
    platform: { error: 'FORBIDDEN', message: 'Locked' },
  },
  {
    name: 'an absent resource',
    ...throwing(notFound('item', 'itm_1')),
    status: 404,
    itsm: { code: 'NOT_FOUND', message: 'item not found', details: { resource: 'item', id: 'itm_1' } },
    platform: { error: 'NOT_FOUND', message: 'item not found' },
  },
  {
    name: 'a conflict, whose details the platform adds to its body',
    ...throwing(conflict('Already closed', { currentStatus: 'closed', allowed: [] })),
    status: 409,
    itsm: { code: 'CONFLICT', message: 'Already closed', details: { currentStatus: 'closed', allowed: [] } },
    platform: { error: 'CONFLICT', message: 'Already closed', currentStatus: 'closed', allowed: [] },
  },
  {
    name: 'a rate limit',
    context: () => {
      throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many requests', {
        details: { limit: 60, window: 60, retryAfter: 12 },
      });
    },
    status: 429,
    headers: { 'retry-after': '12' },
    itsm: {
      code: 'RATE_LIMIT_EXCEEDED',
      message: 'Too many requests',
      details: { limit: 60, window: 60, retryAfter: 12 },
    },
    platform: { error: 'RATE_LIMITED', message: 'Too many requests', retryAfter: 12 },
  },
  { name: 'an error nobody expected', ...throwing(new Error('secret table users')), ...unexpected },
  {
    name: 'an error nobody expected while the context is made',
    context: () => {
      throw new TypeError('secret state');
    },
    ...unexpected,
  },
  {
    name: 'a GraphQL error without a code of ours',
    ...throwing(new GraphQLError('secret path', { extensions: { code: 'SOMETHING' } })),
    ...unexpected,
  },
  { name: 'a result the schema does not allow', resolve: () => null, ...unexpected },
  {
    name: 'a GraphQL error with a code of ours',
    ...throwing(
      new GraphQLError('item not found', {
        extensions: { code: 'NOT_FOUND', details: { resource: 'item', id: 'itm_9' } },
      }),
    ),
    status: 404,
    itsm: { code: 'NOT_FOUND', message: 'item not found', details: { resource: 'item', id: 'itm_9' } },
    platform: { error: 'NOT_FOUND', message: 'item not found' },
  },
  { name: 'the database away', ...throwing(away), ...awayAs('database') },
  {
    name: 'the database away, as MikroORM tells it',
    ...throwing(
      Object.assign(new Error(`select 1 - ${away.message}`), { name: 'DriverException', code: away.code }),
    ),
    ...awayAs('database'),
  },
  {
    name: 'the database away while the context is made',
    context: () => {
      throw away;
    },
    ...awayAs('database'),
  },
  { name: 'the MongoDB of the jobs away', ...throwing(mongoAway), ...awayAs('job queue') },
  { name: 'another service away', ...throwing(unavailable('llm', 5)), ...awayAs('llm') },
];
