import type { ObjectQuery } from '@mikro-orm/core';
import { raw } from '@mikro-orm/postgresql';
import type { ItsmPrincipal } from '../../../context.js';
import type { Team } from '../../../entities/identity/team.js';
import { isId } from '../../../entities/ids.js';
import { notFound } from '../../../errors.js';
import { forbidden } from '../forbidden.js';
import { widestScope } from '../role-permissions.js';

const mine = 'select m.team_id from team_member m where m.user_id = ?';

/**
 * Which of the organization's teams a caller may read, as the condition a query carries: all of them or their own.
 * @throws AUTHORIZATION_ERROR when none
 */
export function teamView(caller: ItsmPrincipal): ObjectQuery<Team> {
  const scope = widestScope(caller.permissions, 'teams', 'read');
  if (scope === undefined) throw forbidden(caller, 'teams:read:own');
  if (scope === 'all') return {};
  return { [raw((alias) => `${alias}.id = any (array(${mine}))`, [caller.userId])]: [] };
}

/** A malformed id is that of no team. @throws NOT_FOUND */
export function requireTeamId(id: string): void {
  if (!isId('team', id)) throw notFound('team', id);
}
