import { expect } from '@jest/globals';
import { invalid, invalidField } from '../../src/errors.js';
import { type FailureCase, type Sent, throwing } from './failure-case.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (body: string, headers = JSON_TYPE): Sent => ({ method: 'POST', path: '/items', body, headers });

/** What is wrong with a request, and what both surfaces answer to it, field by field. */
export const WRONG_REQUESTS: readonly FailureCase[] = [
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
];
