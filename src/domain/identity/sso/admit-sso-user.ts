import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { RequestContext } from '../../../context.js';
import { SsoIdentity } from '../../../entities/identity/sso-identity.js';
import type { SsoProvider } from '../../../entities/identity/sso-provider.js';
import { User, UserRole } from '../../../entities/identity/user.js';
import { AppError } from '../../../errors.js';
import { newEvent } from '../../../events/catalogue.js';
import { transactional, type Unit } from '../../../events/transaction.js';
import type { SsoProfile } from '../../../integrations/sso/sso-protocol.js';
import { recordAudit } from '../../audit/index.js';
import { newUser } from '../users/new-user.js';
import { holdRoles, isEmailTaken } from '../users/user-rules.js';
import { followGroups } from './follow-groups.js';
import { roleFromGroups } from './group-roles.js';

interface Admission {
  context: RequestContext;
  provider: SsoProvider;
  profile: SsoProfile;
}

/** To whoever has no account here, has one elsewhere, or may not enter: nothing tells these apart. */
function noEntry(cause: string): AppError {
  return new AppError('AUTHORIZATION_ERROR', 'There is no account here for this login', {
    cause: new Error(cause),
  });
}

/**
 * The user a provider vouches for: known by issuer and subject; or, the first time, by an e-mail address the provider
 * has verified, among the users of its own organization and nowhere else; or made, where the provider may.
 * @throws AUTHORIZATION_ERROR
 */
export async function admitSsoUser(admission: Admission): Promise<User> {
  const attempt = () => transactional(admission.context, (unit) => admit(admission, unit));
  // Of two first logins at once one makes the user, and the other finds it.
  return attempt().catch((error: unknown) => {
    if (isEmailTaken(error) || isIdentityTaken(error)) return attempt();
    throw error;
  });
}

function isIdentityTaken(error: unknown): boolean {
  return (error as { constraint?: unknown }).constraint === 'sso_identity_pkey';
}

async function admit(admission: Admission, unit: Unit): Promise<User> {
  const { provider, profile } = admission;
  // Before any user's row is locked, as every change of roles does.
  if (provider.groupsClaim !== null) await holdRoles(unit.em, provider.organizationId);
  const known = (await knownUser(admission, unit.em)) ?? (await linkedUser(admission, unit));
  if (known?.role === UserRole.super_admin) throw noEntry('a super_admin logs in with a password');
  const role = roleFromGroups(provider, profile);
  if (role === undefined) throw noEntry('no group gives a role');
  if (known) return followGroups(admission.context, unit, known, provider, role.fromGroups);
  return makeUser(admission, unit, role.forNewUser);
}

async function knownUser({ provider, profile }: Admission, em: EntityManager): Promise<User | null> {
  const { organizationId, issuer } = provider;
  const key = { organizationId, issuer, subject: profile.subject };
  const identity = await em.findOne(SsoIdentity, key, { filters: false });
  return identity && findUser(em, { id: identity.userId, organizationId });
}

/** @throws AUTHORIZATION_ERROR for an address that is not verified, of another domain or of another organization */
async function linkedUser(admission: Admission, unit: Unit): Promise<User | null> {
  const { provider } = admission;
  const user = await findUser(unit.em, { email: vouchedEmail(admission) });
  if (!user) return null;
  if (user.organizationId !== provider.organizationId) throw noEntry('the address is in use elsewhere');
  if (user.role !== UserRole.super_admin) await link(admission, unit, user);
  return user;
}

function findUser(em: EntityManager, where: { id: string; organizationId: string } | { email: string }) {
  return em.findOne(User, where, { filters: false, lockMode: LockMode.PESSIMISTIC_WRITE });
}

/**
 * An address that the provider says is not verified never counts. One it says nothing about counts where the
 * organization has written down which domains this provider speaks for.
 */
function vouchedEmail({ provider: { emailDomains }, profile: { email, emailVerified } }: Admission): string {
  if (email === undefined || email.length > 254) throw noEntry('no e-mail address');
  const isOfDomain = emailDomains.includes(email.slice(email.lastIndexOf('@') + 1));
  if (emailDomains.length > 0 && !isOfDomain) throw noEntry('the address is of another domain');
  if (emailVerified ?? isOfDomain) return email;
  throw noEntry('the address is not verified');
}

async function link(
  { context, provider: { id, organizationId, issuer }, profile: { subject } }: Admission,
  { em }: Unit,
  user: User,
): Promise<void> {
  em.create(SsoIdentity, {
    organizationId,
    issuer,
    subject,
    userId: user.id,
    createdAt: context.services.now(),
  });
  await em.flush();
  await recordAudit(em, {
    organizationId,
    actor: { type: 'system', id },
    action: 'sso.identity_linked',
    resource: { type: 'user', id: user.id },
    after: { issuer, subject },
    address: context.client?.address,
    requestId: context.requestId,
  });
}

async function makeUser(admission: Admission, unit: Unit, role: UserRole): Promise<User> {
  const { context, provider, profile } = admission;
  if (!provider.provisionUsers) throw noEntry('the provider may not make users');
  const { organizationId } = provider;
  const email = vouchedEmail(admission);
  const name = (profile.name ?? email.slice(0, email.lastIndexOf('@'))).slice(0, 255);
  const user = await newUser(unit, { organizationId, email, name, role }, context.services.now());
  const { id } = user;
  unit.record(newEvent('user.created', organizationId, { id, email, name, role, source: provider.provider }));
  await link(admission, unit, user);
  return user;
}
