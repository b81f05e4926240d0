import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { Engine, EngineKind } from './engines/engine.js';
import type { Event } from './entities/events/event.js';
import type { User, UserRole } from './entities/identity/user.js';
import { ORGANIZATION_SETTING } from './entities/row-security.js';
import type { RunMessage } from './entities/runs/run-message.js';
import { ORGANIZATION_FILTER, WORKSPACE_FILTER } from './entities/tenancy.js';
import { AppError } from './errors.js';
import { createLoaders, type Loaders } from './graph/loaders/entity-loaders.js';
import type { Mailer } from './integrations/smtp/mailer.js';
import type { SingleSignOn } from './integrations/sso/sso-protocol.js';
import type { WebhookSender } from './integrations/webhooks/webhook-sender.js';

/** Who an ITSM token speaks for (ITSM document, Access token claims). */
export interface ItsmPrincipal {
  userId: string;
  email: string;
  organizationId: string;
  /** Set while a super_admin is in another organization than their own. */
  homeOrganizationId?: string;
  role: UserRole;
  sessionId: string;
  tokenId: string;
  /** resource:action:scope, as they stood when the token was signed. */
  permissions: readonly string[];
  /** Set when the credential was an API key: its id and how many requests a minute it may send. */
  apiKey?: { readonly id: string; readonly perMinute: number };
  /** Milliseconds since 1970; undefined for what has no end. */
  expiresAt?: number;
}

/** In the order of the platform document's hierarchy; the highest held counts. */
export const platformRoles = { ADMIN: 100, ENGINEER: 75, ANALYST: 50, STEWARD: 40, VIEWER: 25 } as const;
export type PlatformRole = keyof typeof platformRoles;

/** Who a platform token speaks for, and in which workspace. */
export interface PlatformPrincipal {
  /** Who vouches for the subject; one name for the embedded issuer, whatever address it is reached by. */
  issuer: string;
  subject: string;
  email: string | undefined;
  roles: readonly PlatformRole[];
  workspaceId: string;
  workspaceSlug: string;
  organizationId: string;
  /** Milliseconds since 1970. */
  expiresAt?: number;
}

/** Who sent the request; both may be set once an OIDC identity is linked to a user. */
export interface Caller {
  itsm?: ItsmPrincipal;
  platform?: PlatformPrincipal;
}

/** Wakes listeners of a topic on every node, soon and at least once; carries no data that matters. */
export interface WakeChannel {
  wake(topic: string): void;
  on(topic: string, listener: () => void): () => void;
}

/** The clock's side of a job: losing what is enqueued loses nothing, the row it points at is the truth. */
export interface JobQueue {
  enqueue(name: string, payload: unknown): Promise<void>;
  /** False while the store is away; what must not be accepted then asks first. */
  healthy(): boolean;
}

/** Something that is followed until its consumer calls `return()`, which frees it at once. */
export type Followed<T> = AsyncIterableIterator<T, undefined>;

/** The event log: what happened after `after`, then what happens from now on, in order, without gap or duplicate. */
export interface EventFeed {
  subscribe(options: {
    organizationId: string;
    after?: number;
    accepts(event: Event): boolean;
    maxBuffered?: number;
  }): Followed<Event>;
}

/** The messages of one run after a number, until the run has ended. */
export interface RunFeed {
  follow(runId: string, after: number): Followed<RunMessage>;
}

/** AES-256-GCM under the installation's key. */
export interface SecretBox {
  seal(plaintext: string): string;
  /** @throws when the text was sealed with another key or changed since. */
  open(sealed: string): string;
  /** 32 bytes for one purpose, derived from the installation's key: the same on every node, unlike any other purpose's. */
  deriveKey(purpose: string): Uint8Array;
}

/** A key others may verify with (RFC 7517). */
export interface PublicJwk {
  kty: string;
  use: string;
  alg: string;
  kid: string;
  n: string;
  e: string;
}

/** The tokens of /v1: ours, signed with the keys of the SigningKey table. */
export interface ItsmTokens {
  /** A signed token of 900 s with the claims of the ITSM document; permissions are those of the user's role now. */
  issue(user: Pick<User, 'id' | 'email' | 'organizationId' | 'role'>, sessionId: string): Promise<string>;
  /** @throws TOKEN_EXPIRED for a good token that is past its time, TOKEN_INVALID for anything else that is not good. */
  verify(token: string): Promise<ItsmPrincipal>;
  /** A signed token of 7 days that buys one new pair of tokens; who issues it keeps its hash. */
  issueRefresh(userId: string, sessionId: string): Promise<string>;
  /** @throws TOKEN_INVALID unless the token was issued by `issueRefresh` and is not past its time. */
  verifyRefresh(token: string): Promise<void>;
  publicJwks(): Promise<PublicJwk[]>;
  /** Access tokens of these sessions are refused from now on, on every node; to be called after the commit. */
  sessionsRevoked(sessionIds: readonly string[]): void;
  /** The same for single access tokens, by their jti. */
  tokensRevoked(tokenIds: readonly string[]): void;
  close(): Promise<void>;
}

/** The access tokens of /api/v1, made by the OIDC issuer. */
export interface PlatformTokens {
  /**
   * @throws TOKEN_EXPIRED, TOKEN_INVALID, AUTHORIZATION_ERROR without a known workspace or role, SERVICE_UNAVAILABLE
   *   while the issuer's keys can't be had.
   */
  verify(token: string): Promise<PlatformPrincipal>;
}

/** What lives as long as the process. */
export interface Services {
  config: Config;
  log: Logger;
  /** Sees every tenant: for what src/database/system-work.ts names. Requests have `context.em`. */
  orm: MikroORM;
  /** Sees what each transaction's organization owns: what requests are served with. */
  tenantOrm: MikroORM;
  now(): Date;
  wake: WakeChannel;
  events: EventFeed;
  runs: RunFeed;
  engines: ReadonlyMap<EngineKind, Engine>;
  jobs: JobQueue;
  secrets: SecretBox;
  itsmTokens: ItsmTokens;
  platformTokens: PlatformTokens;
  /** Tries once and at once; what must not be lost goes through queueMail (src/domain/mail). */
  mail: Mailer;
  singleSignOn: SingleSignOn;
  webhookSender: WebhookSender;
}

/** What somebody may try only so often, each with a count of its own. */
export type AttemptedAction = 'login' | 'refresh' | 'mfa' | 'password';

/** The far end of the connection a request came over. */
export interface RequestClient {
  /** An IP address; from X-Forwarded-For only when a trusted proxy wrote it. */
  readonly address: string;
  /**
   * To be called before a secret is checked, with whatever names the account: an e-mail address, a user's id.
   * @throws RATE_LIMIT_EXCEEDED after too many attempts from this address at this account within a minute
   */
  countAttempt(action: AttemptedAction, account: string): Promise<void>;
  /** X-Device-Fingerprint: what the client calls its device. */
  readonly deviceFingerprint?: string | undefined;
  /** The organization that X-Tenant-Slug names, or else the subdomain of Origin. */
  readonly tenant?: { readonly slug: string; readonly by: 'header' | 'origin' } | undefined;
  /** Of a browser that asks to be kept signed in by cookie, or is. */
  readonly authCookie?: AuthCookie | undefined;
}

/** The cookie itsm_auth_token of the answer being made. */
export interface AuthCookie {
  /** Does nothing for a request that did not ask to be kept signed in. @param seconds for which the browser keeps it */
  set(accessToken: string, seconds: number): void;
  clear(): void;
}

/** What lives as long as one request or one job. */
export interface RequestContext {
  requestId: string;
  /** Undefined for a job. */
  client: RequestClient | undefined;
  services: Services;
  /** Made at the first line: most requests write none of their own. */
  readonly log: Logger;
  em: EntityManager;
  caller: Caller;
  /** Made at the first question: most requests ask for no relation. */
  readonly loaders: Loaders;
}

export function createContext(
  services: Services,
  requestId: string,
  caller: Caller,
  client?: RequestClient,
): RequestContext {
  const em = services.tenantOrm.em.fork();
  const organizationId = caller.itsm?.organizationId ?? caller.platform?.organizationId;
  if (organizationId !== undefined) {
    em.setFilterParams(ORGANIZATION_FILTER, { organizationId });
    em.setSessionContext({ variables: { [ORGANIZATION_SETTING]: organizationId } });
  }
  if (caller.platform) em.setFilterParams(WORKSPACE_FILTER, { workspaceId: caller.platform.workspaceId });
  return new LazyContext(requestId, client, services, em, caller);
}

/**
 * A class, for an object with accessors of its own outlives its request: V8 keeps them, and all they close over, until the
 * next full collection (docs/decisions/reading-lists.md). Apollo Server copies the own fields of a context.
 */
class LazyContext implements RequestContext {
  private madeLog: Logger | undefined;
  private madeLoaders: Loaders | undefined;

  constructor(
    readonly requestId: string,
    readonly client: RequestClient | undefined,
    readonly services: Services,
    readonly em: EntityManager,
    readonly caller: Caller,
  ) {}

  get log(): Logger {
    this.madeLog ??= this.services.log.child({ requestId: this.requestId });
    return this.madeLog;
  }

  get loaders(): Loaders {
    this.madeLoaders ??= createLoaders(this.em);
    return this.madeLoaders;
  }
}

/**
 * The same request, seeing every tenant: for operations that find out who somebody is, before there is a tenant.
 * Only root fields with `@Permission({ public: true })` are given it (src/graph/authorize.ts).
 */
export function asSystem(context: RequestContext): RequestContext {
  let em: EntityManager | undefined;
  const ofEveryTenant = () => {
    em ??= context.services.orm.em.fork();
    return em;
  };
  return Object.create(context, {
    em: { get: ofEveryTenant },
    loaders: { get: () => context.loaders },
  }) as RequestContext;
}

/** @throws AUTHENTICATION_ERROR when no ITSM credential came with the request. */
export function itsmCaller(context: RequestContext): ItsmPrincipal {
  if (!context.caller.itsm) throw new AppError('AUTHENTICATION_ERROR', 'An ITSM access token is required');
  return context.caller.itsm;
}

/**
 * For what only a person may do, such as ending their own sessions.
 * @throws AUTHENTICATION_ERROR when no ITSM credential came with the request, AUTHORIZATION_ERROR for an API key
 */
export function itsmUser(context: RequestContext): ItsmPrincipal {
  const caller = itsmCaller(context);
  if (caller.apiKey) throw new AppError('AUTHORIZATION_ERROR', 'This needs a login: an API key cannot do it');
  return caller;
}

/** @throws AUTHENTICATION_ERROR when no platform token came with the request. */
export function platformCaller(context: RequestContext): PlatformPrincipal {
  if (!context.caller.platform)
    throw new AppError('AUTHENTICATION_ERROR', 'A platform access token is required');
  return context.caller.platform;
}
