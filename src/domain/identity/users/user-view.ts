import type { ObjectQuery } from '@mikro-orm/core';
import { raw } from '@mikro-orm/postgresql';
import type { ItsmPrincipal } from '../../../context.js';
import type { User } from '../../../entities/identity/user.js';
import { forbidden } from '../forbidden.js';
import { type Scope, widestScope } from '../role-permissions.js';

const shareTeam =
  'select theirs.user_id from team_member mine join team_member theirs using (team_id) where mine.user_id = ?';

const views: Readonly<Record<Scope, (userId: string) => ObjectQuery<User>>> = {
  own: (id) => ({ id }),
  team: (id) => ({
    $or: [{ id }, { [raw((alias) => `${alias}.id = any (array(${shareTeam}))`, [id])]: [] }],
  }),
  all: () => ({}),
};

/**
 * Which of the organization's users a caller may read, as the condition a query carries.
 * @throws AUTHORIZATION_ERROR when none
 */
export function userView(caller: ItsmPrincipal): ObjectQuery<User> {
  const scope = widestScope(caller.permissions, 'users', 'read');
  if (scope === undefined) throw forbidden(caller, 'users:read:own');
  return views[scope](caller.userId);
}
