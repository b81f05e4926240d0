import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.js';
import type { ConnectionTarget, HttpConnectionTarget } from '../../engines/engine.js';
import { invalidField } from '../../errors.js';
import { isReachableHost } from '../../integrations/connections/reachable-address.js';
import { isListedHost, isPublicHost } from '../../integrations/http/public-address.js';
import type { ConnectionDefinition } from './connection-input.js';

type Of<T extends ConnectionDefinition['type']> = Extract<ConnectionDefinition, { type: T }>;
type Rules = Pick<Config, 'connectionAllowedHosts' | 'filesRoots'>;

/**
 * What an engine or a probe needs to reach a connection, once this installation's rules let it be reached. Kafka has
 * no target before streaming.
 * @throws VALIDATION_ERROR naming the field that breaks a rule
 */
export async function requestedTarget(
  definition: ConnectionDefinition,
  rules: Rules,
): Promise<ConnectionTarget | undefined> {
  switch (definition.type) {
    case 'postgres':
    case 'mysql':
      return databaseTarget(definition);
    case 'http':
      return httpTarget(definition, rules);
    case 'file':
      return fileTarget(definition, rules);
    case 'kafka':
      return undefined;
  }
}

function databaseTarget({ type, config, credentials }: Of<'postgres'> | Of<'mysql'>): ConnectionTarget {
  const { host, port, database, ssl } = config;
  const { username: user, password } = credentials;
  return {
    type,
    host,
    port,
    database,
    user,
    ...(password !== undefined && { password }),
    ssl: typeof ssl === 'object' ? definedOnly(ssl) : ssl,
  };
}

function httpTarget({ config, credentials }: Of<'http'>, rules: Rules): HttpConnectionTarget {
  const allowPrivate = vetted(new URL(config.baseUrl), 'config.baseUrl', rules);
  const secret: Record<string, string> = {};
  if ('username' in credentials)
    secret['authorization'] =
      `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
  if ('token' in credentials) secret['authorization'] = `Bearer ${credentials.token}`;
  if ('apiKey' in credentials) secret[config.apiKeyHeader.toLowerCase()] = credentials.apiKey;
  return { type: 'http', baseUrl: config.baseUrl, headers: { ...config.headers, ...secret }, allowPrivate };
}

async function fileTarget({ config, credentials }: Of<'file'>, rules: Rules): Promise<ConnectionTarget> {
  if (config.storage === 'local')
    return { type: 'file', storage: 'local', root: await allowedRoot(config.root, rules.filesRoots) };
  const { endpoint, bucket, prefix, region, forcePathStyle } = config;
  return {
    type: 'file',
    storage: 's3',
    bucket,
    prefix: prefix.replace(/^\/+|\/+$/g, ''),
    region,
    ...(endpoint !== undefined && { endpoint }),
    ...(forcePathStyle !== undefined && { forcePathStyle }),
    ...('accessKeyId' in credentials && definedOnly(credentials)),
    allowPrivate: endpoint !== undefined && vetted(new URL(endpoint), 'config.endpoint', rules),
  };
}

/** Whether the service may be private. @throws VALIDATION_ERROR when it may not be reached at all */
function vetted(url: URL, field: string, { connectionAllowedHosts }: Rules): boolean {
  if (!isReachableHost(url.hostname))
    throw invalidField(field, 'isReachableHost', `${field} must not be a link-local address`);
  if (connectionAllowedHosts.includes('*') || isListedHost(connectionAllowedHosts, url)) return true;
  if (url.protocol !== 'https:')
    throw invalidField(
      field,
      'isHttps',
      `${field} must be https: its host is not in CONNECTION_ALLOWED_HOSTS`,
    );
  if (!isPublicHost(url.hostname))
    throw invalidField(
      field,
      'isPublicHost',
      `${field} is a private address that is not in CONNECTION_ALLOWED_HOSTS`,
    );
  return false;
}

/** Relative to the first of the roots; links are followed before judging. @throws VALIDATION_ERROR */
async function allowedRoot(root: string, filesRoots: readonly string[]): Promise<string> {
  const [first = '/'] = filesRoots;
  const wanted = await realWay(path.resolve(first, root));
  const roots = await Promise.all(filesRoots.map(realWay));
  if (!roots.some((each) => wanted === each || wanted.startsWith(path.join(each, path.sep))))
    throw invalidField('config.root', 'isAllowedRoot', 'config.root must lie below one of FILES_ROOTS');
  return wanted;
}

/** As far as the directory is there, the real way to it: a link on the way to one that is not must not lead outside. */
async function realWay(directory: string): Promise<string> {
  const real = await realpath(directory).catch(() => undefined);
  if (real !== undefined) return real;
  const parent = path.dirname(directory);
  return parent === directory ? directory : path.join(await realWay(parent), path.basename(directory));
}

function definedOnly<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
