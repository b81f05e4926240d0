import type { EntityManager } from '@mikro-orm/postgresql';
import { User } from '../../entities/identity/user.js';
import { AppError } from '../../errors.js';
import { verifyPassword } from './password.js';

/**
 * The same answer, after the same work, for an unknown address, a wrong password and a deactivated account. The one
 * look-up that crosses tenants: an e-mail address is unique over the installation and a login names no tenant.
 * @throws AUTHENTICATION_ERROR
 */
export async function verifyCredentials(em: EntityManager, email: string, password: string): Promise<User> {
  const user = await em.findOne(User, { email: email.trim().toLowerCase() }, { filters: false });
  const usable = user?.active ? user : undefined;
  const matches = await verifyPassword(usable?.passwordHash, password);
  if (!matches || usable === undefined)
    throw new AppError('AUTHENTICATION_ERROR', 'The e-mail address or the password is wrong');
  return usable;
}
