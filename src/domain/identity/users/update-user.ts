import { isDeepStrictEqual } from 'node:util';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { type ItsmPrincipal, itsmCaller, type RequestContext } from '../../../context.js';
import { TeamMember } from '../../../entities/identity/team-member.js';
import { User, UserRole } from '../../../entities/identity/user.js';
import { notFound } from '../../../errors.js';
import { newEvent } from '../../../events/catalogue.js';
import { transactional, type Unit } from '../../../events/transaction.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import { eventActor } from '../../event-actor.js';
import { queueMail } from '../../mail/index.js';
import { validate } from '../../validate.js';
import { API_KEYS_TOPIC } from '../api-keys/verify-api-key.js';
import { voidPasswordTokens } from '../password-tokens.js';
import { endSessions } from '../revoke-sessions.js';
import { requireUserId } from './get-user.js';
import { holdTeams, join, teamIdsOf } from './memberships.js';
import { type UpdateUser, type UserPatch, updateUserSchema } from './user-input.js';
import { emailTaken, holdRoles, isEmailTaken, requireOtherAdmin, requireRank } from './user-rules.js';

/** What the record shows of a user and somebody may change. */
type UserState = Pick<User, 'email' | 'name' | 'role' | 'active'> & { teamIds: string[] };

/**
 * Absent fields stay. A new role is signed into tokens from the next login or refresh on; tokens that are out keep what
 * they hold until they expire. A user who is no longer active is out at once.
 * @throws NOT_FOUND, VALIDATION_ERROR, AUTHORIZATION_ERROR for a role above the caller's, CONFLICT for an address in use
 *   and for the last tenant_admin
 */
export async function updateUser(context: RequestContext, id: string, input: UpdateUser): Promise<User> {
  requireUserId(id);
  return change(context, id, validate(updateUserSchema, input));
}

/** Their sessions end and they cannot log in; what they did stays theirs. @throws as updateUser */
export async function deactivateUser(context: RequestContext, id: string): Promise<User> {
  requireUserId(id);
  return change(context, id, { active: false });
}

async function change(context: RequestContext, id: string, patch: UserPatch): Promise<User> {
  const caller = itsmCaller(context);
  const user = await transactional(context, async (unit) => {
    const { em } = unit;
    await holdRoles(em, caller.organizationId);
    const user = await em.findOne(User, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!user) throw notFound('user', id);
    requireRank(caller, user.role, 'Changing this user');
    const { email, name, role, active } = user;
    const before: UserState = { email, name, role, active, teamIds: await teamIdsOf(em, id) };
    const changes = difference(before, patch);
    if (Object.keys(changes).length === 0) return user;
    await requireAllowed(caller, em, user, changes);
    await apply(context, unit, user, before, changes);
    await tell(context, unit, user, before, changes);
    return user;
  }).catch((error: unknown) => {
    throw isEmailTaken(error) ? emailTaken() : error;
  });
  context.loaders.user.clear(id);
  context.loaders.teamIdsOfUser.clear(id);
  return user;
}

/** Only what the caller named and what really differs. */
function difference(before: UserState, patch: UserPatch): Partial<UserState> {
  const wanted = patch.teamIds ? { ...patch, teamIds: patch.teamIds.toSorted() } : patch;
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) => value !== undefined && !isDeepStrictEqual(before[field as keyof UserState], value),
    ),
  );
}

async function requireAllowed(
  caller: ItsmPrincipal,
  em: EntityManager,
  user: User,
  { role, active, teamIds }: Partial<UserState>,
): Promise<void> {
  if (role !== undefined) requireRank(caller, role, 'Giving this role');
  const loses = user.role === UserRole.tenant_admin && user.active;
  if (loses && (role !== undefined || active === false)) await requireOtherAdmin(em, user);
  await holdTeams(em, teamIds ?? []);
}

async function apply(
  { services }: RequestContext,
  unit: Unit,
  user: User,
  before: UserState,
  { teamIds, ...columns }: Partial<UserState>,
): Promise<void> {
  const { em, afterCommit, wakeAfterCommit } = unit;
  const { id, organizationId } = user;
  const now = services.now();
  Object.assign(user, columns, { updatedAt: now });
  await em.flush();
  if (teamIds) {
    await em.nativeDelete(TeamMember, { userId: id, teamId: { $nin: teamIds } });
    await join(
      em,
      teamIds.map((teamId) => ({ teamId, userId: id, organizationId })),
    );
  }
  if (columns.email !== undefined) {
    await voidPasswordTokens(em, id);
    queueMail(unit, services, 'notice', {
      to: before.email,
      subject: 'The e-mail address of your account was changed',
      text: `Hello ${user.name},\n\nan administrator changed the address you log in with. Mails go to the new one from now on.\n`,
    });
  }
  // Their API keys can do no more than they can.
  wakeAfterCommit(API_KEYS_TOPIC);
  if (columns.active === false) {
    await voidPasswordTokens(em, id);
    const ended = await endSessions(em, { userId: id }, now);
    afterCommit(() => services.itsmTokens.sessionsRevoked(ended.map((session) => session.id)));
  }
}

async function tell(
  context: RequestContext,
  { em, record }: Unit,
  { id, email, organizationId }: User,
  before: UserState,
  after: Partial<UserState>,
): Promise<void> {
  const fields = Object.keys(after) as (keyof UserState)[];
  const changes = fields.map((field) => ({ field, from: before[field], to: after[field] ?? null }));
  const actor = eventActor(itsmCaller(context));
  record(newEvent('user.updated', organizationId, { id, email, changes, actor }));
  await em.flush();
  await recordAudit(em, {
    ...auditSource(context),
    action: after.active === false ? 'users.deactivated' : 'users.updated',
    resource: { type: 'user', id },
    before: Object.fromEntries(fields.map((field) => [field, before[field]])),
    after,
  });
}
