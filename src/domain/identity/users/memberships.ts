import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { Team } from '../../../entities/identity/team.js';
import { TeamMember } from '../../../entities/identity/team-member.js';
import { User } from '../../../entities/identity/user.js';
import { invalidField } from '../../../errors.js';

/** Teams of the organization, which stay until the transaction ends. @throws VALIDATION_ERROR for any other id */
export async function holdTeams(em: EntityManager, teamIds: readonly string[]): Promise<void> {
  if (teamIds.length === 0) return;
  const teams = await em.find(
    Team,
    { id: { $in: [...teamIds] } },
    { fields: ['id'], orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_READ },
  );
  if (teams.length < teamIds.length)
    throw invalidField('teamIds', 'exists', 'teamIds names a team that is not there');
}

/** Active users of the organization. @throws VALIDATION_ERROR for any other id */
export async function requireMembers(em: EntityManager, memberIds: readonly string[]): Promise<void> {
  if (memberIds.length === 0) return;
  const found = await em.count(User, { id: { $in: [...memberIds] }, active: true });
  if (found < memberIds.length)
    throw invalidField('memberIds', 'exists', 'memberIds names a user that is not there');
}

/** In the order of ids, so that the same members are always told in the same order. */
export async function teamIdsOf(em: EntityManager, userId: string): Promise<string[]> {
  const rows = await em.find(TeamMember, { userId }, { orderBy: { teamId: 'asc' } });
  return rows.map(({ teamId }) => teamId);
}

/** Of two that join at once, one finds the other done. */
export async function join(em: EntityManager, members: TeamMember[]): Promise<void> {
  if (members.length === 0) return;
  await em.upsertMany(TeamMember, members, {
    onConflictFields: ['teamId', 'userId'],
    onConflictAction: 'ignore',
  });
}
