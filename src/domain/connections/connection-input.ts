import { z } from 'zod';
import { isReachableHost } from '../../integrations/connections/reachable-address.js';
import { isStorableText, text } from '../storable-text.js';

/** What a connection of each type is made of; credentials are kept sealed and never read back. */
const problem = (constraint: string, error: string) => ({ error, params: { constraint } });

/** A name or an address: a path would be a Unix socket to the driver. */
const host = text()
  .min(1)
  .max(255)
  .regex(/^[\w.:-]+$/)
  .refine(isReachableHost, problem('isReachableHost', 'must not be a link-local address'));

const ssl = z
  .union([
    z.boolean(),
    z.strictObject({ ca: text().max(65_536).optional(), rejectUnauthorized: z.boolean().optional() }),
  ])
  .default(false);

const account = z.strictObject({
  username: text().min(1).max(255),
  password: text().max(1024).optional(),
});

const postgres = z.strictObject({
  type: z.literal('postgres'),
  config: z.strictObject({
    host,
    port: z.int().min(1).max(65_535).default(5432),
    database: text().min(1).max(63),
    ssl,
  }),
  credentials: account,
});

const mysql = z.strictObject({
  type: z.literal('mysql'),
  config: z.strictObject({
    host,
    port: z.int().min(1).max(65_535).default(3306),
    database: text().min(1).max(64),
    ssl,
  }),
  credentials: account,
});

/** Of a service: without an account, which is a credential, and without what a path could not be appended to. */
const serviceUrl = text()
  .max(2048)
  .refine(isServiceUrl, problem('isUrl', 'must be an http or https URL without account, query and fragment'));

const file = z.strictObject({
  type: z.literal('file'),
  config: z.discriminatedUnion('storage', [
    z.strictObject({ storage: z.literal('local'), root: text().min(1).max(1024) }),
    z.strictObject({
      storage: z.literal('s3'),
      bucket: text().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
      prefix: text().max(1024).default(''),
      region: text()
        .regex(/^[a-z0-9-]{1,64}$/)
        .default('us-east-1'),
      endpoint: serviceUrl.optional(),
      forcePathStyle: z.boolean().optional(),
    }),
  ]),
  credentials: z
    .strictObject({
      accessKeyId: text().min(1).max(256),
      secretAccessKey: text().min(1).max(1024),
      sessionToken: text().min(1).max(8192).optional(),
    })
    .or(z.strictObject({})),
});

/** RFC 9110, 5.1 and 5.5: a token, and a value without line breaks, which would begin another header. */
const headerName = text().regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/);
const headerValue = text()
  .max(4096)
  .regex(/^[\t\x20-\x7e]*$/);
/** They are the transport's own. */
const TRANSPORT = /^(proxy-.*|host|connection|keep-alive|content-length|transfer-encoding|upgrade|expect)$/i;
/** They carry credentials, which do not belong into what is read back. */
const CREDENTIALS = /^(authorization|cookie|x-api-key)$/i;

const headers = z
  .record(headerName, headerValue)
  .refine((all) => Object.keys(all).length <= 50, problem('maxProperties', 'must not be more than 50'))
  .refine(
    (all) => !Object.keys(all).some((name) => TRANSPORT.test(name) || CREDENTIALS.test(name)),
    problem('isAllowedHeader', 'must not carry credentials (see auth) or headers of the transport'),
  )
  .default({});

const http = z.strictObject({
  type: z.literal('http'),
  config: z.strictObject({
    baseUrl: serviceUrl,
    headers,
    auth: z.enum(['none', 'basic', 'bearer', 'apiKey']).default('none'),
    /** Where auth is apiKey. */
    apiKeyHeader: headerName
      .refine(
        (name) => !TRANSPORT.test(name),
        problem('isAllowedHeader', 'must not be a header of the transport'),
      )
      .default('X-API-Key'),
  }),
  credentials: z.union([
    z.strictObject({ username: text().min(1).max(255), password: text().max(1024).default('') }),
    z.strictObject({ token: headerValue.min(1) }),
    z.strictObject({ apiKey: headerValue.min(1) }),
    z.strictObject({}),
  ]),
});

const broker = text()
  .max(261)
  .regex(/^[\w.-]+:\d{1,5}$/)
  .refine((each) => isReachableHost(each.replace(/:\d+$/, '')), {
    error: 'must not be a link-local address',
    params: { constraint: 'isReachableHost' },
  });

const kafka = z.strictObject({
  type: z.literal('kafka'),
  config: z.strictObject({
    brokers: z.array(broker).min(1).max(100),
    ssl,
    sasl: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).optional(),
  }),
  credentials: account.or(z.strictObject({})),
});

/** Which credentials each way of HTTP authentication reads. */
const authFields = { none: undefined, basic: 'username', bearer: 'token', apiKey: 'apiKey' } as const;

export const definitionSchema = z
  .discriminatedUnion('type', [postgres, mysql, file, http, kafka])
  .superRefine((definition, issues) => {
    if (definition.type !== 'http') return;
    const { auth } = definition.config;
    const [present] = Object.keys(definition.credentials);
    if (present === authFields[auth]) return;
    const message =
      authFields[auth] === undefined
        ? 'are not used with auth none'
        : `auth ${auth} needs ${authFields[auth]}`;
    issues.addIssue({ code: 'custom', path: ['credentials'], message });
  });

/** A connection in clear, fit to be used. */
export type ConnectionDefinition = z.output<typeof definitionSchema>;

export const nameSchema = text().trim().min(1).max(255);

export interface CreateConnection {
  name: string;
  type: string;
  config: Record<string, unknown>;
  credentials?: Record<string, unknown> | null;
}

/** Absent fields stay. */
export interface UpdateConnection {
  name?: string;
  type?: string;
  config?: Record<string, unknown>;
  credentials?: Record<string, unknown>;
}

function isServiceUrl(value: string): boolean {
  if (!URL.canParse(value) || !isStorableText(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}
