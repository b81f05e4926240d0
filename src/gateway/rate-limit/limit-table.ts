/**
 * Every limit of the gateway. A value can be changed by its environment variable; which requests it counts is written
 * in `endpointRules` and, for what is known only after authentication, in rate-limits.ts.
 */

interface Setting {
  readonly variable: `RATE_LIMIT_${string}`;
  readonly perMinute: number;
}

/** Requests per minute. A bucket holds `burst` requests at most; a window lets `perMinute` pass in any 60 s. */
export const limitTable = {
  /** /v1, everyone of an organization together. */
  organization: { variable: 'RATE_LIMIT_ORGANIZATION_PER_MINUTE', perMinute: 3_000 },
  organizationBurst: { variable: 'RATE_LIMIT_ORGANIZATION_BURST', perMinute: 1_200 },
  /** /v1, an API key that was given no rateLimitPerMinute of its own. */
  apiKey: { variable: 'RATE_LIMIT_API_KEY_PER_MINUTE', perMinute: 600 },
  /** Login, refresh, MFA and the like: one address at one account, for each action. */
  attempt: { variable: 'RATE_LIMIT_ATTEMPT_PER_MINUTE', perMinute: 10 },
  /** /v1 before authentication: one address, and the ways to log in among it. Counted by each node for itself. */
  address: { variable: 'RATE_LIMIT_ADDRESS_PER_MINUTE', perMinute: 6_000 },
  addressBurst: { variable: 'RATE_LIMIT_ADDRESS_BURST', perMinute: 2_400 },
  addressAuth: { variable: 'RATE_LIMIT_ADDRESS_AUTH_PER_MINUTE', perMinute: 300 },
  /** Everything else: one address at one endpoint, which is a method and a route template. */
  read: { variable: 'RATE_LIMIT_READ_PER_MINUTE', perMinute: 600 },
  runStatus: { variable: 'RATE_LIMIT_RUN_STATUS_PER_MINUTE', perMinute: 1_200 },
  write: { variable: 'RATE_LIMIT_WRITE_PER_MINUTE', perMinute: 300 },
  trigger: { variable: 'RATE_LIMIT_TRIGGER_PER_MINUTE', perMinute: 120 },
  copilot: { variable: 'RATE_LIMIT_COPILOT_PER_MINUTE', perMinute: 60 },
  suggest: { variable: 'RATE_LIMIT_SUGGEST_PER_MINUTE', perMinute: 300 },
  graphql: { variable: 'RATE_LIMIT_GRAPHQL_PER_MINUTE', perMinute: 600 },
} as const satisfies Record<string, Setting>;

export type LimitName = keyof typeof limitTable;

/** The values in force, by name. */
export type LimitValues = Readonly<Record<LimitName, number>>;

const reading = ['GET', 'HEAD', 'OPTIONS'];
const copilot = /^\/api\/(?:v1\/)?(?:copilot|ai)\//;

interface EndpointRule {
  readonly methods?: readonly string[];
  /** Matched against the route template. */
  readonly path: RegExp;
  readonly limit: LimitName;
  /** With a burst the limit is a bucket, without one a window. */
  readonly burst?: LimitName;
  /** Whether each endpoint has a count of its own, or all of the rule's together. */
  readonly per: 'endpoint' | 'rule';
  /**
   * Where it is counted: in the store all nodes share, or by each node for itself. What protects a node from a flood
   * must not cost a round trip, and what it protects is that node.
   */
  readonly count: 'shared' | 'node';
}

const shared = { per: 'endpoint', count: 'shared' } as const;
const guard = { per: 'rule', count: 'node' } as const;

/** What is counted by address, before authentication. The first rule that fits counts; /health and /metrics never get here. */
export const endpointRules: readonly EndpointRule[] = [
  { path: /^\/v1\/auth\//, methods: ['POST'], limit: 'addressAuth', ...guard },
  { path: /^\/v1(?:\/|$)/, limit: 'address', burst: 'addressBurst', ...guard },
  // The handshake of a WebSocket, its operations and what is posted count together.
  { path: /^\/graphql$/, limit: 'graphql', per: 'rule', count: 'shared' },
  { path: /^\/api\/v1\/runs\/:runId$/, methods: reading, limit: 'runStatus', ...shared },
  {
    path: /^\/api\/v1\/orchestrator\/(?:.+\/)?trigger(?:\/|$)/,
    methods: ['POST'],
    limit: 'trigger',
    ...shared,
  },
  { path: new RegExp(`${copilot.source}suggest$`), limit: 'suggest', ...shared },
  { path: copilot, limit: 'copilot', ...shared },
  { path: /^/, methods: reading, limit: 'read', ...shared },
  { path: /^/, limit: 'write', ...shared },
];
