import { User } from '../../../entities/identity/user.js';
import { newId } from '../../../entities/ids.js';
import type { Unit } from '../../../events/transaction.js';

type Person = Pick<User, 'organizationId' | 'email' | 'name' | 'role'>;

/** Somebody who may log in but has no password yet; written at once, so that an address in use is known here. */
export async function newUser({ em }: Pick<Unit, 'em'>, person: Person, now: Date): Promise<User> {
  const user = em.create(User, {
    id: newId('usr'),
    ...person,
    passwordHash: null,
    active: true,
    platformRoles: [],
    createdAt: now,
    updatedAt: now,
  });
  await em.flush();
  return user;
}
