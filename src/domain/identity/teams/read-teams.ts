import { itsmCaller, type RequestContext } from '../../../context.js';
import { Team } from '../../../entities/identity/team.js';
import { notFound } from '../../../errors.js';
import { type Listing, listRows } from '../../list-rows.js';
import type { Page, PageRequest, SortOrder } from '../../page.js';
import { requireTeamId, teamView } from './team-view.js';

const sorts = {
  createdAt: { property: 'createdAt', column: 'created_at' },
  name: { property: 'name', column: 'name' },
} as const satisfies Record<string, Listing<Team>['sort']>;

export type TeamSortField = keyof typeof sorts;
export const teamSortFields = Object.keys(sorts) as TeamSortField[];

export interface TeamQuery extends PageRequest {
  sortBy?: TeamSortField | null | undefined;
  sortOrder?: SortOrder | null | undefined;
}

/** @throws VALIDATION_ERROR, AUTHORIZATION_ERROR */
export async function listTeams(context: RequestContext, query: TeamQuery): Promise<Page<Team>> {
  const visible = teamView(itsmCaller(context));
  const sort = sorts[query.sortBy ?? 'createdAt'];
  const order = query.sortOrder ?? 'desc';
  return listRows(context.em, { entity: Team, prefix: 'team', visible, filters: [], sort, order }, query);
}

/** @throws NOT_FOUND, also for a team the caller may not see */
export async function getTeam(context: RequestContext, id: string): Promise<Team> {
  requireTeamId(id);
  const where = teamView(itsmCaller(context));
  const team = await context.em.findOne(Team, { $and: [{ id }, where] }, { disableIdentityMap: true });
  if (!team) throw notFound('team', id);
  return team;
}
