import path from 'node:path';
import proxyAddress from 'proxy-addr';
import { z } from 'zod';
import { parseCatalogs, type TrinoSettings, trinoSettings } from './engines/trino/trino-settings.js';
import { type LimitName, type LimitValues, limitTable } from './gateway/rate-limit/limit-table.js';
import { parseUpstreams, type Upstream } from './gateway/upstream/parse-upstreams.js';

const flag = z
  .enum(['true', 'false', '1', '0', ''])
  .default('')
  .transform((value) => value === 'true' || value === '1');

const url = (...protocols: string[]) =>
  z
    .string()
    .refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
      error: `must be a URL starting with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    })
    .optional();

const list = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );

const requestsPerMinute = (usual: number) => z.coerce.number().int().min(1).max(1_000_000).default(usual);

const limitNames = Object.keys(limitTable) as LimitName[];
const limitVariables = Object.fromEntries(
  limitNames.map((name) => [limitTable[name].variable, requestsPerMinute(limitTable[name].perMinute)]),
) as Record<(typeof limitTable)[LimitName]['variable'], ReturnType<typeof requestsPerMinute>>;

const addresses = list.refine((ranges) => ranges.every(isAddressRange), {
  error: 'must be IP addresses, CIDR ranges, or loopback, linklocal, uniquelocal, separated by commas',
});

const upstreams = z
  .string()
  .default('{}')
  .transform((text, issues): Upstream[] => {
    try {
      return parseUpstreams(text);
    } catch (error) {
      issues.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });

const trinoUrl = url('http:', 'https:').refine(
  (value) => value === undefined || new URL(value).password === '' || value.startsWith('https:'),
  { error: 'has a password, so it must start with https://' },
);

const catalogs = list.transform((entries, issues) => {
  try {
    return parseCatalogs(entries);
  } catch (error) {
    issues.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
});

const environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(4000),
  HOST: z.string().min(1).default('127.0.0.1'),
  DATA_DIR: z.string().min(1).default('.opsgraph'),
  DATABASE_URL: url('postgres:', 'postgresql:'),
  MONGODB_URL: url('mongodb:', 'mongodb+srv:'),
  REDIS_URL: url('redis:', 'rediss:'),
  OIDC_DISCOVERY_URL: url('http:', 'https:'),
  OPENLINEAGE_URL: url('http:', 'https:'),
  OIDC_AUDIENCE: z.string().min(1).default('opsgraph'),
  PUBLIC_URL: url('http:', 'https:'),
  SSO_ALLOWED_HOSTS: list,
  WEBHOOK_ALLOWED_HOSTS: list,
  CONNECTION_ALLOWED_HOSTS: list,
  WEBHOOK_CA_FILE: z.string().min(1).optional(),
  WEBHOOK_DELIVERY_RETENTION_DAYS: z.coerce.number().min(1).max(3_650).default(30),
  SMTP_URL: url('smtp:', 'smtps:'),
  MAIL_FROM: z.string().min(3).default('Opsgraph <opsgraph@localhost>'),
  SEED: z.enum(['demo', 'none']).optional(),
  ROLE: z.enum(['all', 'api', 'worker']).default('all'),
  ...limitVariables,
  RATE_LIMIT_DISABLED: flag,
  RATE_LIMIT_FAIL: z.enum(['open', 'closed']).default('open'),
  TRUSTED_PROXIES: addresses,
  GATEWAY_UPSTREAMS: upstreams,
  GATEWAY_UPSTREAM_TIMEOUT_MS: z.coerce.number().int().min(100).max(600_000).default(30_000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  GRAPHQL_INTROSPECTION: z
    .enum(['true', 'false'])
    .default('true')
    .transform((value) => value === 'true'),
  GRAPHQL_EXPLORER: z
    .enum(['true', 'false'])
    .default('true')
    .transform((value) => value === 'true'),
  FILES_ROOTS: list,
  PIPELINE_ENV_ALLOWED: list.refine((names) => names.every((name) => /^[A-Za-z_]\w*$/.test(name)), {
    error: 'must be names of environment variables, separated by commas',
  }),
  OPSGRAPH_SECRET_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, { error: 'must be 32 bytes in hexadecimal (64 characters)' })
    .optional(),
  BREACHED_PASSWORDS_FILE: z.string().min(1).optional(),
  SIGNING_KEY_ROTATION_DAYS: z.coerce.number().min(1).max(3_650).default(30),
  REFRESH_REUSE_GRACE_SECONDS: z.coerce.number().int().min(0).max(3_600).default(10),
  JOB_CONCURRENCY: z.coerce.number().int().min(1).max(256).default(4),
  TRINO_URL: trinoUrl,
  TRINO_USER: z.string().min(1).default('opsgraph'),
  TRINO_CATALOGS: catalogs,
  RUN_MEMORY_LIMIT_MB: z.coerce.number().int().min(64).max(1_048_576).default(1024),
  RUN_CONCURRENCY_PER_WORKSPACE: z.coerce.number().int().min(1).max(10_000).default(16),
  RUN_CONCURRENCY_PER_PIPELINE: z.coerce.number().int().min(1).max(10_000).default(4),
  RUN_RETENTION_DAYS: z.coerce.number().min(1).max(3_650).default(90),
  RUN_RETRY_KEEP_HOURS: z.coerce.number().min(0).max(8_760).default(24),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(500).default(16),
});

type Environment = z.infer<typeof environment>;

export interface Config {
  port: number;
  host: string;
  /** Absolute; the default lies in the directory the server was started from. */
  dataDir: string;
  databaseUrl: string | undefined;
  databasePoolSize: number;
  mongodbUrl: string | undefined;
  redisUrl: string | undefined;
  oidcDiscoveryUrl: string | undefined;
  oidcAudience: string;
  /** Where OpenLineage events of runs are posted; undefined keeps them here alone. */
  openlineageUrl: string | undefined;
  publicUrl: string | undefined;
  /** Hosts (`name` or `name:port`) of login providers that may be private and speak plain HTTP. */
  ssoAllowedHosts: string[];
  /** Hosts (`name` or `name:port`) of webhook receivers that may be private; https all the same. */
  webhookAllowedHosts: string[];
  /** Hosts (`name` or `name:port`, `*` for all) of http and S3 connections that may be private and speak plain HTTP. */
  connectionAllowedHosts: string[];
  /** Absolute path of certificates (PEM) that receivers may be signed by, beside the usual authorities. */
  webhookCaFile: string | undefined;
  /** Of deliveries that have ended. */
  webhookDeliveryRetentionDays: number;
  /** Undefined means that mails are written as files below DATA_DIR. */
  smtpUrl: string | undefined;
  mailFrom: string;
  seedDemo: boolean;
  role: Environment['ROLE'];
  rateLimitDisabled: boolean;
  /** Requests per minute, by the names of the table. */
  rateLimits: LimitValues;
  /** Whether a request passes that can't be counted because the store is away. */
  rateLimitFail: Environment['RATE_LIMIT_FAIL'];
  /** Whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  /** Back ends that serve a path prefix in place of this process, the longest prefix first. */
  upstreams: Upstream[];
  /** Until an upstream's first byte. */
  upstreamTimeoutMs: number;
  logLevel: Environment['LOG_LEVEL'];
  graphqlIntrospection: boolean;
  graphqlExplorer: boolean;
  /** Where pipelines may read and write files by absolute path: DATA_DIR/files and the project's examples by default. */
  filesRoots: string[];
  /** What pipelines may read as {{ env.NAME }}: the allowed variables that are set. */
  pipelineEnv: Readonly<Record<string, string>>;
  /** 64 hexadecimal characters; undefined means a key generated into DATA_DIR. */
  secretKey: string | undefined;
  /** Absolute path of a sorted list of SHA-1 hashes; undefined means that no list is asked. */
  breachedPasswordsFile: string | undefined;
  /** How long after its use a refresh token may come again without ending its session; 0 for never. */
  refreshReuseGraceSeconds: number;
  /** After so many days a signing key is replaced; the old one verifies for 8 days more. */
  signingKeyRotationDays: number;
  jobConcurrency: number;
  runMemoryLimitMb: number;
  /** Runs of one workspace that may be under way at once, over all workers. */
  runsPerWorkspace: number;
  /** Runs of one pipeline that may be under way at once, over all workers; with an incremental source it is one. */
  runsPerPipeline: number;
  /** Of runs that have ended, with their logs, lineage and quarantined rows; the newest of each pipeline stays. */
  runRetentionDays: number;
  /** How long a run that did not succeed keeps its intermediate results for a retry. */
  runRetryKeepHours: number;
  /** Undefined means that DuckDB carries out every run of the engine BATCH. */
  trino: TrinoSettings | undefined;
}

const projectRoot = path.resolve(import.meta.dirname, '..');

/** @throws Error with one sentence per wrong variable; the start stops with it. */
export function parseConfig(env: NodeJS.ProcessEnv, cwd: string): Config {
  const known = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name in environment.shape && value !== ''),
  );
  const parsed = environment.safeParse(known);
  if (!parsed.success) {
    const sentences = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}.`);
    throw new Error(`The environment is not usable. ${sentences.join(' ')}`);
  }
  const values = parsed.data;
  const dataDir = path.resolve(cwd, values.DATA_DIR);
  const filesRoots = values.FILES_ROOTS.map((root) => path.resolve(cwd, root));
  // There are the keys, the database, what runs have read, and whose the files are.
  if (filesRoots.some((root) => dataDir === root || dataDir.startsWith(path.join(root, path.sep))))
    throw new Error('The environment is not usable. FILES_ROOTS: must not hold DATA_DIR as a whole.');
  return {
    port: values.PORT,
    host: values.HOST,
    dataDir,
    databaseUrl: values.DATABASE_URL,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    mongodbUrl: values.MONGODB_URL,
    redisUrl: values.REDIS_URL,
    oidcDiscoveryUrl: values.OIDC_DISCOVERY_URL,
    oidcAudience: values.OIDC_AUDIENCE,
    openlineageUrl: values.OPENLINEAGE_URL,
    publicUrl: values.PUBLIC_URL?.replace(/\/$/, ''),
    ssoAllowedHosts: values.SSO_ALLOWED_HOSTS.map((host) => host.toLowerCase()),
    webhookAllowedHosts: values.WEBHOOK_ALLOWED_HOSTS.map((host) => host.toLowerCase()),
    connectionAllowedHosts: values.CONNECTION_ALLOWED_HOSTS.map((host) => host.toLowerCase()),
    webhookCaFile:
      values.WEBHOOK_CA_FILE === undefined ? undefined : path.resolve(cwd, values.WEBHOOK_CA_FILE),
    webhookDeliveryRetentionDays: values.WEBHOOK_DELIVERY_RETENTION_DAYS,
    smtpUrl: values.SMTP_URL,
    mailFrom: values.MAIL_FROM,
    seedDemo: values.SEED === undefined ? values.DATABASE_URL === undefined : values.SEED === 'demo',
    role: values.ROLE,
    rateLimitDisabled: values.RATE_LIMIT_DISABLED,
    rateLimits: limitValues(values),
    rateLimitFail: values.RATE_LIMIT_FAIL,
    trustedProxies: values.TRUSTED_PROXIES,
    upstreams: values.GATEWAY_UPSTREAMS,
    upstreamTimeoutMs: values.GATEWAY_UPSTREAM_TIMEOUT_MS,
    logLevel: values.LOG_LEVEL,
    graphqlIntrospection: values.GRAPHQL_INTROSPECTION,
    graphqlExplorer: values.GRAPHQL_EXPLORER,
    filesRoots:
      filesRoots.length > 0 ? filesRoots : [path.join(dataDir, 'files'), path.join(projectRoot, 'examples')],
    pipelineEnv: Object.fromEntries(
      values.PIPELINE_ENV_ALLOWED.flatMap((name) => {
        const value = env[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    secretKey: values.OPSGRAPH_SECRET_KEY,
    breachedPasswordsFile:
      values.BREACHED_PASSWORDS_FILE === undefined
        ? undefined
        : path.resolve(cwd, values.BREACHED_PASSWORDS_FILE),
    signingKeyRotationDays: values.SIGNING_KEY_ROTATION_DAYS,
    refreshReuseGraceSeconds: values.REFRESH_REUSE_GRACE_SECONDS,
    jobConcurrency: values.JOB_CONCURRENCY,
    runMemoryLimitMb: values.RUN_MEMORY_LIMIT_MB,
    runsPerWorkspace: values.RUN_CONCURRENCY_PER_WORKSPACE,
    runsPerPipeline: values.RUN_CONCURRENCY_PER_PIPELINE,
    runRetentionDays: values.RUN_RETENTION_DAYS,
    runRetryKeepHours: values.RUN_RETRY_KEEP_HOURS,
    trino: values.TRINO_URL === undefined ? undefined : trinoSettings(values.TRINO_URL, values),
  };
}

function limitValues(values: Environment): LimitValues {
  const entries = limitNames.map((name) => [name, values[limitTable[name].variable]]);
  return Object.fromEntries(entries) as LimitValues;
}

function isAddressRange(text: string): boolean {
  try {
    proxyAddress.compile(text);
    return true;
  } catch {
    return false;
  }
}
