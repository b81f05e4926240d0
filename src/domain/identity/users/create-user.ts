import { itsmCaller, type RequestContext } from '../../../context.js';
import type { User } from '../../../entities/identity/user.js';
import { newEvent } from '../../../events/catalogue.js';
import { transactional } from '../../../events/transaction.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import { queueMail } from '../../mail/index.js';
import { validate } from '../../validate.js';
import { holdTeams, join } from './memberships.js';
import { newUser } from './new-user.js';
import { type CreateUser, createUserSchema } from './user-input.js';
import { emailTaken, isEmailTaken, requireRank } from './user-rules.js';

/**
 * Somebody new, who sets a password by a link that is sent to them.
 * @throws VALIDATION_ERROR, AUTHORIZATION_ERROR for a role above the caller's, CONFLICT for an address in use
 */
export async function createUser(context: RequestContext, input: CreateUser): Promise<User> {
  const caller = itsmCaller(context);
  const { organizationId } = caller;
  const { email, name, role, teamIds } = validate(createUserSchema, input);
  requireRank(caller, role, 'Giving this role');
  const { services } = context;
  return transactional(context, async (unit) => {
    const { em, record } = unit;
    await holdTeams(em, teamIds ?? []);
    const user = await newUser(unit, { organizationId, email, name, role }, services.now());
    const { id } = user;
    const memberships = (teamIds ?? []).map((teamId) => ({ teamId, userId: id, organizationId }));
    await join(em, memberships);
    queueMail(unit, services, 'invitation', { userId: id });
    await em.flush();
    record(newEvent('user.created', organizationId, { id, email, name, role, source: 'api' }));
    await recordAudit(em, {
      ...auditSource(context),
      action: 'users.created',
      resource: { type: 'user', id },
      after: { email, name, role, teamIds: teamIds ?? [] },
    });
    return user;
  }).catch((error: unknown) => {
    throw isEmailTaken(error) ? emailTaken() : error;
  });
}
