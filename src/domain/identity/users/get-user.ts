import { itsmCaller, type RequestContext } from '../../../context.js';
import { User } from '../../../entities/identity/user.js';
import { isId } from '../../../entities/ids.js';
import { notFound } from '../../../errors.js';
import { atHome } from '../cross-tenant.js';
import { userView } from './user-view.js';

/** @throws NOT_FOUND, also for a user the caller may not see */
export async function getUser(context: RequestContext, id: string): Promise<User> {
  requireUserId(id);
  const where = userView(itsmCaller(context));
  const user = await context.em.findOne(User, { $and: [{ id }, where] }, { disableIdentityMap: true });
  if (!user) throw notFound('user', id);
  return user;
}

/** Whose credential it is; also of somebody who looks into another organization just now. @throws NOT_FOUND */
export async function getMe(context: RequestContext): Promise<User> {
  const { userId: id } = itsmCaller(context);
  const user = await atHome(context).em.findOne(User, { id }, { disableIdentityMap: true });
  if (!user) throw notFound('user', id);
  return user;
}

/** A malformed id is that of no user. @throws NOT_FOUND */
export function requireUserId(id: string): void {
  if (!isId('usr', id)) throw notFound('user', id);
}
