import type { EntityManager } from '@mikro-orm/postgresql';
import DataLoader from 'dataloader';
import { readByKey } from '../../database/read-by-key.js';
import { Organization } from '../../entities/identity/organization.js';
import { Team } from '../../entities/identity/team.js';
import { TeamMember } from '../../entities/identity/team-member.js';
import { User } from '../../entities/identity/user.js';
import { type RunTask, tasksByRun } from '../../entities/runs/run-task.js';
import { ORGANIZATION_FILTER } from '../../entities/tenancy.js';

/** Entities that others point at, by id. What the caller's organization does not have is null. */
export interface Loaders {
  readonly user: DataLoader<string, User | null>;
  readonly team: DataLoader<string, Team | null>;
  readonly organization: DataLoader<string, Organization | null>;
  readonly teamIdsOfUser: DataLoader<string, string[]>;
  readonly memberIdsOfTeam: DataLoader<string, string[]>;
  /** In topological order. */
  readonly tasksOfRun: DataLoader<string, RunTask[]>;
}

/** PostgreSQL takes 65,535 parameters; a full page of 1,000 tickets has fewer users than this. */
const MAX_BATCH = 1_000;

/**
 * One statement per kind for everything that fields of one request ask for in the same tick. To be made anew for every
 * request and every event of a subscription, since it remembers what it read.
 */
export function createLoaders(em: EntityManager): Loaders {
  return {
    user: byId((ids) => readByKey(em, { entity: User, key: 'id' }, ids)),
    team: byId((ids) => readByKey(em, { entity: Team, key: 'id' }, ids)),
    organization: byId((ids) => readOwnOrganization(em, ids)),
    teamIdsOfUser: memberships(em, 'userId', 'teamId'),
    memberIdsOfTeam: memberships(em, 'teamId', 'userId'),
    tasksOfRun: new DataLoader((ids) => readTasks(em, ids), { maxBatchSize: MAX_BATCH }),
  };
}

/** The other side of each membership, in the order of ids. */
function memberships(
  em: EntityManager,
  key: 'userId' | 'teamId',
  value: 'userId' | 'teamId',
): DataLoader<string, string[]> {
  return new DataLoader(
    async (ids) => {
      const found = new Map<string, string[]>(ids.map((id) => [id, []]));
      const rows = await readByKey(em, { entity: TeamMember, key, orderBy: value }, ids);
      for (const row of rows) found.get(row[key])?.push(row[value]);
      return ids.map((id) => found.get(id) ?? []);
    },
    { maxBatchSize: MAX_BATCH },
  );
}

async function readTasks(em: EntityManager, runIds: readonly string[]): Promise<RunTask[][]> {
  const tasks = await readByKey(em, tasksByRun, runIds);
  const byRun = Map.groupBy(tasks, (task) => task.runId);
  return runIds.map((id) => byRun.get(id) ?? []);
}

function byId<Entity extends { id: string }>(
  read: (ids: string[]) => Promise<Entity[]>,
): DataLoader<string, Entity | null> {
  return new DataLoader(
    async (ids) => {
      const rows = await read([...ids]);
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => found.get(id) ?? null);
    },
    { maxBatchSize: MAX_BATCH },
  );
}

/** The table of tenants has no tenancy filter: the caller's own is the only one there is. */
function readOwnOrganization(em: EntityManager, ids: string[]): Promise<Organization[]> {
  const own: unknown = em.getFilterParams(ORGANIZATION_FILTER)?.['organizationId'];
  const known = ids.filter((id) => id === own);
  return readByKey(em, { entity: Organization, key: 'id' }, known);
}
