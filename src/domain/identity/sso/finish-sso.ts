import type { RequestContext } from '../../../context.js';
import { SsoLogin } from '../../../entities/identity/sso-login.js';
import { SsoProvider } from '../../../entities/identity/sso-provider.js';
import type { User } from '../../../entities/identity/user.js';
import { AppError, invalidField } from '../../../errors.js';
import { recordAudit } from '../../audit/index.js';
import type { TokenAnswer } from '../issue-tokens.js';
import { openSession } from '../open-session.js';
import { admitSsoUser } from './admit-sso-user.js';
import { protocolOf, ssoAddresses, ssoConnection, ssoHash } from './sso-connection.js';
import { randomToken } from './start-sso.js';

/** For a browser that follows a redirect and a client that asks at once. */
const CODE_MS = 60_000;

export interface SsoLoggedIn extends TokenAnswer {
  user: Pick<User, 'id' | 'email' | 'role' | 'organizationId'> & { ssoProvider: string };
}

export interface SsoReturn {
  provider: string;
  baseUrl: string;
  /** From the query of the callback. */
  tenant: string | undefined;
  /** `state` or `RelayState`. */
  state: string | undefined;
  /** All the browser brought. */
  answer: Readonly<Record<string, string>>;
}

/**
 * The end of the round trip: back to the client with a one-time code, or the tokens themselves for a login that named
 * no redirect_uri. A state is good for one answer, right or wrong.
 * @throws VALIDATION_ERROR without a state, AUTHENTICATION_ERROR, AUTHORIZATION_ERROR, ACCOUNT_LOCKED, SERVICE_UNAVAILABLE
 */
export async function finishSso(
  context: RequestContext,
  returned: SsoReturn,
): Promise<{ redirect: URL } | { loggedIn: SsoLoggedIn }> {
  const { services } = context;
  const { state } = returned;
  if (state === undefined || state === '') throw invalidField('state', 'isDefined', 'state is missing');
  const login = await claim(context, state, returned);
  const em = services.orm.em.fork();
  const { providerId: id, organizationId } = login;
  const provider = await em.findOne(SsoProvider, { id, organizationId, enabled: true }, { filters: false });
  if (!provider) throw stateRefused();
  const user = await identify(context, login, provider, returned).catch(async (error: unknown) => {
    await auditRefusal(context, provider, error);
    throw error;
  });
  if (login.redirectUri !== null && provider.redirectUris.includes(login.redirectUri))
    return { redirect: await giveCode(context, login, login.redirectUri, user) };
  if (login.redirectUri !== null) throw stateRefused();
  const tokens = await openSession(context, user, { method: provider.provider });
  return { loggedIn: loggedInBy(provider.provider, user, tokens) };
}

export function loggedInBy(ssoProvider: string, user: User, tokens: TokenAnswer): SsoLoggedIn {
  const { id, email, role, organizationId } = user;
  return { ...tokens, user: { id, email, role, organizationId, ssoProvider } };
}

/** By compare-and-swap, and only where the login's own provider was told to answer. */
async function claim(
  { services }: RequestContext,
  state: string,
  { provider, baseUrl, tenant }: SsoReturn,
): Promise<SsoLogin> {
  const { now } = services;
  const em = services.orm.em.fork();
  const key = { stateHash: ssoHash(state) };
  const { callbackUrl } = ssoAddresses(baseUrl, provider, tenant ?? '');
  const awaited = { ...key, callbackUrl, answeredAt: null, expiresAt: { $gt: now() } };
  const won = await em.nativeUpdate(SsoLogin, awaited, { answeredAt: now() }, { filters: false });
  if (won === 0) throw stateRefused();
  return em.findOneOrFail(SsoLogin, key, { filters: false });
}

/** For a state nobody awaits here: unknown, used, too old, or brought to another provider's callback. */
function stateRefused(): AppError {
  return new AppError(
    'AUTHENTICATION_ERROR',
    'This login was not begun here, was finished, or took too long',
  );
}

async function identify(
  context: RequestContext,
  login: SsoLogin,
  provider: SsoProvider,
  { baseUrl, tenant, state, answer }: SsoReturn,
): Promise<User> {
  const { services } = context;
  const addresses = ssoAddresses(baseUrl, provider.provider, tenant ?? '');
  const connection = ssoConnection(services, provider, addresses);
  const codeVerifier = login.sealedVerifier === null ? '' : services.secrets.open(login.sealedVerifier);
  const attempt = { state: state ?? '', nonce: login.nonce, codeVerifier };
  const profile = await protocolOf(services, provider).finish(connection, attempt, answer);
  return admitSsoUser({ context, provider, profile });
}

async function giveCode(
  { services }: RequestContext,
  login: SsoLogin,
  redirectUri: string,
  user: User,
): Promise<URL> {
  const code = randomToken();
  const expiresAt = new Date(services.now().getTime() + CODE_MS);
  const { stateHash } = login;
  await services.orm.em
    .fork()
    .nativeUpdate(
      SsoLogin,
      { stateHash },
      { codeHash: ssoHash(code), userId: user.id, expiresAt, sealedVerifier: null },
      { filters: false },
    );
  const redirect = new URL(redirectUri);
  redirect.searchParams.set('code', code);
  if (login.clientState !== null) redirect.searchParams.set('state', login.clientState);
  return redirect;
}

/** The reason, which the browser is not told; an outage is nobody's attempt. */
async function auditRefusal(context: RequestContext, provider: SsoProvider, error: unknown): Promise<void> {
  if (!(error instanceof AppError) || error.code === 'SERVICE_UNAVAILABLE') return;
  const { id, organizationId } = provider;
  const reason = error.cause instanceof Error ? error.cause.message : error.message;
  context.log.info({ provider: id, reason }, 'login by a provider refused');
  await recordAudit(context.services.orm.em.fork(), {
    organizationId,
    actor: { type: 'anonymous', id: null },
    action: 'auth.sso_refused',
    resource: { type: 'sso_provider', id },
    after: { reason: reason.slice(0, 1_000) },
    address: context.client?.address,
    requestId: context.requestId,
  });
}
