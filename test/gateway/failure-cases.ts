import { expect } from '@jest/globals';
import { GraphQLError } from 'graphql';
import { AppError, conflict, invalid, invalidField, notFound, unavailable } from '../../src/errors.js';
import type { TestGatewayOptions } from './gateway-server.js';

interface Sent {
  method?: string;
  path?: string;
  body?: string;
  headers?: Record<string, string>;
}

interface Expected {
  status: number;
  headers?: Record<string, string>;
  /** code, message and details of the /v1 envelope */
  itsm: { status?: number; code: string; message: string; details: unknown };
  /** everything of the platform's body but the timestamp */
  platform: Record<string, unknown>;
}

export interface FailureCase extends TestGatewayOptions, Expected {
  name: string;
  send?: Sent;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (body: string, headers = JSON_TYPE): Sent => ({ method: 'POST', path: '/items', body, headers });
const throwing = (error: unknown) => ({
  resolve: () => {
    throw error;
  },
});
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

/** Every failure and what both surfaces answer to it, field by field. */
export const FAILURES: readonly FailureCase[] = [
  {
    name: 'an unknown path',
    send: { path: '/nothing?token=x' },
    status: 404,
    itsm: {
      code: 'NOT_FOUND',
      message: 'GET /v1/nothing does not exist',
      details: { resource: 'path', id: '/v1/nothing' },
    },
    platform: { error: 'NOT_FOUND', message: 'GET /api/v1/nothing does not exist' },
  },
  {
    name: 'a method the path does not have',
    send: { method: 'DELETE' },
    status: 405,
    headers: { allow: 'GET, HEAD, OPTIONS' },
    itsm: {
      code: 'NOT_FOUND',
      message: 'DELETE is not allowed here',
      details: { resource: 'path', id: '/v1/items/itm_1', allow: ['GET', 'HEAD', 'OPTIONS'] },
    },
    platform: { error: 'METHOD_NOT_ALLOWED', message: 'DELETE is not allowed here' },
  },
  {
    name: 'a body that is no JSON',
    send: post('{"title":'),
    status: 400,
    itsm: {
      code: 'VALIDATION_ERROR',
      message: expect.any(String) as unknown as string,
      details: { field: 'body', constraint: 'isJson' },
    },
    platform: {
      error: 'BAD_REQUEST',
      message: expect.any(String),
      details: [{ field: 'body', message: expect.any(String) }],
    },
  },
  {
    name: 'a content type that is not JSON',
    send: post('<title/>', { 'content-type': 'text/xml' }),
    status: 415,
    itsm: {
      code: 'VALIDATION_ERROR',
      message: 'The content type must be application/json',
      details: { field: 'content-type', constraint: 'isIn', expected: 'application/json' },
    },
    platform: { error: 'UNSUPPORTED_MEDIA_TYPE', message: 'The content type must be application/json' },
  },
  {
    name: 'a body over the limit',
    send: post(JSON.stringify({ title: 'x'.repeat(2_000) })),
    status: 413,
    itsm: {
      code: 'VALIDATION_ERROR',
      message: 'The body is larger than 1000 bytes',
      details: { field: 'body', constraint: 'maxLength', limit: 1_000 },
    },
    platform: { error: 'PAYLOAD_TOO_LARGE', message: 'The body is larger than 1000 bytes' },
  },
  {
    name: 'one wrong field',
    send: post('{"title":7}'),
    status: 400,
    itsm: {
      code: 'VALIDATION_ERROR',
      message: 'title must be a string',
      details: { field: 'title', constraint: 'isString' },
    },
    platform: {
      error: 'BAD_REQUEST',
      message: 'title must be a string',
      details: [{ field: 'title', message: 'title must be a string' }],
    },
  },
  {
    name: 'several wrong fields, of which the first is told and all are listed',
    send: post('{"colour":"BLUE","extra":1}'),
    status: 400,
    itsm: {
      code: 'VALIDATION_ERROR',
      message: expect.any(String) as unknown as string,
      details: {
        field: expect.any(String),
        constraint: expect.any(String),
        errors: expect.arrayContaining([
          { field: 'title', constraint: 'isDefined', message: expect.any(String) },
          { field: 'colour', constraint: 'isIn', message: expect.any(String) },
          { field: 'extra', constraint: 'whitelistValidation', message: expect.any(String) },
        ]),
      },
    },
    platform: {
      error: 'BAD_REQUEST',
      message: expect.any(String),
      details: expect.arrayContaining([
        { field: 'title', message: expect.any(String) },
        { field: 'colour', message: expect.any(String) },
        { field: 'extra', message: expect.any(String) },
      ]),
    },
  },
  {
    name: 'a query parameter out of bounds',
    send: { path: '/items/itm_1?size=99' },
    status: 400,
    itsm: {
      code: 'VALIDATION_ERROR',
      message: 'size must not be greater than 10',
      details: { field: 'size', constraint: 'max' },
    },
    platform: {
      error: 'BAD_REQUEST',
      message: 'size must not be greater than 10',
      details: [{ field: 'size', message: 'size must not be greater than 10' }],
    },
  },
  {
    name: 'a malformed id, which on /v1 names nothing',
    send: { path: '/items/bad' },
    status: 400,
    itsm: {
      status: 404,
      code: 'NOT_FOUND',
      message: 'item not found',
      details: { resource: 'item', id: 'bad' },
    },
    platform: {
      error: 'BAD_REQUEST',
      message: 'id must match ^itm_\\d+$',
      details: [{ field: 'id', message: 'id must match ^itm_\\d+$' }],
    },
  },
  {
    name: 'a path that is no percent-encoding',
    send: { path: '/items/%zz' },
    status: 400,
    itsm: {
      code: 'VALIDATION_ERROR',
      message: 'id is not valid percent-encoding',
      details: { field: 'id', constraint: 'isPercentEncoded' },
    },
    platform: {
      error: 'BAD_REQUEST',
      message: 'id is not valid percent-encoding',
      details: [{ field: 'id', message: 'id is not valid percent-encoding' }],
    },
  },
  {
    name: 'a refusal of the domain',
    ...throwing(invalidField('title', 'isNotEmpty', 'title must not be empty')),
    status: 400,
    itsm: {
      code: 'VALIDATION_ERROR',
      message: 'title must not be empty',
      details: { field: 'title', constraint: 'isNotEmpty' },
    },
    platform: {
      error: 'BAD_REQUEST',
      message: 'title must not be empty',
      details: [{ field: 'title', message: 'title must not be empty' }],
    },
  },
  {
    name: 'several refusals of the domain',
    ...throwing(
      invalid([
        { field: 'a', constraint: 'min', message: 'a is too small' },
        { field: 'b', constraint: 'max', message: 'b is too big' },
      ]),
    ),
    status: 400,
    itsm: {
      code: 'VALIDATION_ERROR',
      message: 'a is too small',
      details: {
        field: 'a',
        constraint: 'min',
        errors: [
          { field: 'a', constraint: 'min', message: 'a is too small' },
          { field: 'b', constraint: 'max', message: 'b is too big' },
        ],
      },
    },
    platform: {
      error: 'BAD_REQUEST',
      message: 'a is too small',
      details: [
        { field: 'a', message: 'a is too small' },
        { field: 'b', message: 'b is too big' },
      ],
    },
  },
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
