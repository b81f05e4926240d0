import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { z } from 'zod';
import { itsmCaller, type RequestContext } from '../../../context.js';
import { Team } from '../../../entities/identity/team.js';
import { TeamMember } from '../../../entities/identity/team-member.js';
import { User } from '../../../entities/identity/user.js';
import { newId } from '../../../entities/ids.js';
import { Ticket } from '../../../entities/tickets/ticket.js';
import { conflict, notFound } from '../../../errors.js';
import { newEvent } from '../../../events/catalogue.js';
import { transactional, type Unit } from '../../../events/transaction.js';
import { auditSource, recordAudit } from '../../audit/index.js';
import { eventActor } from '../../event-actor.js';
import { text } from '../../storable-text.js';
import { validate } from '../../validate.js';
import { join, requireMembers } from '../users/memberships.js';
import { requireTeamId } from './team-view.js';

const MAX_MEMBERS = 1_000;

const fields = {
  name: text().trim().min(1).max(255),
  memberIds: z
    .array(text().min(1).max(64))
    .max(MAX_MEMBERS)
    .transform((ids) => [...new Set(ids)].toSorted()),
};
const createSchema = z.object({ ...fields, memberIds: fields.memberIds.nullish() });
const updateSchema = z.object(fields).partial();

export type CreateTeam = z.input<typeof createSchema>;
export type UpdateTeam = z.input<typeof updateSchema>;

/** @throws VALIDATION_ERROR, CONFLICT for a name in use */
export async function createTeam(context: RequestContext, input: CreateTeam): Promise<Team> {
  const { organizationId } = itsmCaller(context);
  const { name, memberIds } = validate(createSchema, input);
  return writing(name, () =>
    transactional(context, async (unit) => {
      const { em } = unit;
      const team = em.create(Team, {
        id: newId('team'),
        organizationId,
        name,
        createdAt: context.services.now(),
      });
      await em.flush();
      await setMembers(context, unit, team.id, memberIds ?? []);
      await audit(context, em, 'teams.created', team.id, { after: { name, memberIds: memberIds ?? [] } });
      return team;
    }),
  );
}

/** Absent fields stay; members are replaced as a whole. @throws NOT_FOUND, VALIDATION_ERROR, CONFLICT for a name in use */
export async function updateTeam(context: RequestContext, id: string, input: UpdateTeam): Promise<Team> {
  requireTeamId(id);
  const { name, memberIds } = validate(updateSchema, input);
  const team = await writing(name, () =>
    transactional(context, async (unit) => {
      const { em } = unit;
      const team = await held(em, id);
      const renamed = name !== undefined && name !== team.name;
      const before = { ...(renamed && { name: team.name }) };
      if (renamed) team.name = name;
      await em.flush();
      const moved = memberIds && (await setMembers(context, unit, id, memberIds));
      if (!renamed && !moved) return team;
      await audit(context, em, 'teams.updated', id, {
        before: { ...before, ...(moved && { memberIds: moved }) },
        after: { ...(renamed && { name }), ...(moved && { memberIds }) },
      });
      return team;
    }),
  );
  context.loaders.team.clear(id);
  context.loaders.memberIdsOfTeam.clear(id);
  return team;
}

/** Final tickets keep its id. @throws NOT_FOUND, CONFLICT while it has work to do */
export async function deleteTeam(context: RequestContext, id: string): Promise<void> {
  requireTeamId(id);
  await transactional(context, async (unit) => {
    const { em } = unit;
    const team = await held(em, id);
    const tickets = await em.count(Ticket, { teamId: id, status: { $nin: ['closed', 'cancelled'] } });
    if (tickets > 0) throw conflict('The team still has tickets', { id, tickets });
    const memberIds = await setMembers(context, unit, id, []);
    await em.nativeDelete(Team, { id });
    await audit(context, em, 'teams.deleted', id, {
      before: { name: team.name, memberIds: memberIds ?? [] },
    });
  });
}

async function held(em: EntityManager, id: string): Promise<Team> {
  const team = await em.findOne(Team, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!team) throw notFound('team', id);
  return team;
}

/**
 * For whoever joins or leaves, their teams are what changed: each has a user.updated of their own.
 * @returns the members before; undefined when they are the same
 */
async function setMembers(
  context: RequestContext,
  { em, record }: Unit,
  teamId: string,
  memberIds: readonly string[],
): Promise<string[] | undefined> {
  const caller = itsmCaller(context);
  const { organizationId } = caller;
  const rows = await em.find(
    TeamMember,
    { teamId },
    { orderBy: { userId: 'asc' }, disableIdentityMap: true },
  );
  const before = rows.map(({ userId }) => userId);
  const joining = memberIds.filter((id) => !before.includes(id));
  const leaving = before.filter((id) => !memberIds.includes(id));
  const moving = [...joining, ...leaving];
  if (moving.length === 0) return undefined;
  await requireMembers(em, joining);
  const teamsBefore = await teamsOf(em, moving);
  await em.nativeDelete(TeamMember, { teamId, userId: { $in: leaving } });
  await join(
    em,
    joining.map((userId) => ({ teamId, userId, organizationId })),
  );
  const users = await em.find(User, { id: { $in: moving } }, { orderBy: { id: 'asc' } });
  const actor = eventActor(caller);
  for (const { id, email } of users) {
    const from = teamsBefore.get(id) ?? [];
    const others = from.filter((other) => other !== teamId);
    const to = joining.includes(id) ? [...others, teamId].toSorted() : others;
    const changes = [{ field: 'teamIds', from, to }];
    record(newEvent('user.updated', organizationId, { id, email, changes, actor }));
  }
  for (const id of moving) context.loaders.teamIdsOfUser.clear(id);
  return before;
}

async function teamsOf(em: EntityManager, userIds: string[]): Promise<Map<string, string[]>> {
  const rows = await em.find(
    TeamMember,
    { userId: { $in: userIds } },
    { orderBy: { teamId: 'asc' }, disableIdentityMap: true },
  );
  const teams = new Map<string, string[]>();
  for (const { userId, teamId } of rows) teams.set(userId, [...(teams.get(userId) ?? []), teamId]);
  return teams;
}

async function writing<T>(name: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if ((error as { constraint?: unknown }).constraint !== 'team_organization_id_name_unique') throw error;
    throw conflict('A team of this name is there already', { field: 'name', name });
  }
}

function audit(
  context: RequestContext,
  em: EntityManager,
  action: `teams.${string}`,
  id: string,
  states: { before?: object; after?: object },
): Promise<void> {
  return recordAudit(em, { ...auditSource(context), action, resource: { type: 'team', id }, ...states });
}
