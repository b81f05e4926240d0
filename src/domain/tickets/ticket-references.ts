import type { EntityManager } from '@mikro-orm/postgresql';
import { Team } from '../../entities/identity/team.js';
import { User } from '../../entities/identity/user.js';
import { type FieldProblem, invalid } from '../../errors.js';

/** What a ticket points at; absent and null point at nothing. */
export interface TicketReferences {
  requesterId?: string | null | undefined;
  assigneeId?: string | null | undefined;
  teamId?: string | null | undefined;
}

/** Another organization's user or team does not exist. @throws VALIDATION_ERROR naming every dangling reference */
export async function requireReferences(em: EntityManager, references: TicketReferences): Promise<void> {
  const { requesterId, assigneeId, teamId } = references;
  const userIds = [requesterId, assigneeId].filter((id) => id != null);
  const users =
    userIds.length === 0
      ? []
      : await em.find(User, { id: { $in: userIds }, active: true }, { fields: ['id'] });
  const known = new Set(users.map((user) => user.id));
  const problems: FieldProblem[] = [];
  if (requesterId != null && !known.has(requesterId)) problems.push(missing('requesterId', 'user'));
  if (assigneeId != null && !known.has(assigneeId)) problems.push(missing('assigneeId', 'user'));
  if (teamId != null && (await em.count(Team, { id: teamId })) === 0)
    problems.push(missing('teamId', 'team'));
  if (problems.length > 0) throw invalid(problems);
}

function missing(field: string, resource: string): FieldProblem {
  return { field, constraint: 'exists', message: `${field}: no such ${resource} in the organization` };
}
