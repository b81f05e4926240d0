import type { EntityData, EntityManager, EntityName } from '@mikro-orm/postgresql';
import type { Services } from '../../context.js';
import { OidcClient } from '../../entities/identity/oidc-client.js';
import { Organization } from '../../entities/identity/organization.js';
import { Team } from '../../entities/identity/team.js';
import { TeamMember } from '../../entities/identity/team-member.js';
import { User } from '../../entities/identity/user.js';
import { Workspace } from '../../entities/identity/workspace.js';
import { newId, newUuid } from '../../entities/ids.js';
import {
  DEMO_PASSWORD,
  type DemoLogin,
  type DemoSlug,
  demoClients,
  demoOrganizations,
  demoPublicClient,
  demoUsers,
} from './demo-tenants.js';
import { hashPassword } from './password.js';

/** What later seeds (tickets, pipelines) hang their rows on. */
export interface DemoTenant {
  organizationId: string;
  workspaceId: string;
  teamId: string;
  userIds: Record<DemoLogin, string>;
}

type Demo = Record<DemoSlug, DemoTenant>;

/**
 * Two organizations with users, a team and a workspace each, and clients of the embedded issuer. Rows that are there
 * stay as they are, so it may run at every start and on two nodes at once; a later seed does the same with its own.
 */
export async function seedDemo(services: Pick<Services, 'orm' | 'now' | 'secrets'>): Promise<Demo> {
  return services.orm.em.fork().transactional(async (em) => {
    const createdAt = services.now();
    await insertMissing(
      em,
      Organization,
      ['slug'],
      demoOrganizations.map((row) => ({ ...row, id: newId('org'), createdAt })),
    );
    const tenants = new Map<DemoSlug, DemoTenant>();
    for (const { slug } of demoOrganizations) tenants.set(slug, await seedTenant(em, slug, createdAt));
    await seedClients(em, services, tenants, createdAt);
    return Object.fromEntries(tenants) as Demo;
  });
}

async function seedTenant(em: EntityManager, slug: DemoSlug, createdAt: Date): Promise<DemoTenant> {
  const { id: organizationId } = await em.findOneOrFail(Organization, { slug });
  const owner = { organizationId, createdAt };
  await insertMissing(
    em,
    Workspace,
    ['organizationId', 'slug'],
    [{ ...owner, id: newUuid(), slug: 'default', name: 'Default' }],
  );
  const workspace = await em.findOneOrFail(
    Workspace,
    { organizationId, slug: 'default' },
    { filters: false },
  );
  await insertMissing(
    em,
    Team,
    ['organizationId', 'name'],
    [{ ...owner, id: newId('team'), name: 'Service Desk' }],
  );
  const team = await em.findOneOrFail(Team, { organizationId, name: 'Service Desk' }, { filters: false });
  const userIds = await seedUsers(em, slug, owner, workspace.id);
  await insertMissing(
    em,
    TeamMember,
    ['teamId', 'userId'],
    [{ teamId: team.id, userId: userIds.agent, organizationId }],
  );
  return { organizationId, workspaceId: workspace.id, teamId: team.id, userIds };
}

/** Every user has a salt of its own; a restart, which finds the users there, hashes nothing. */
async function seedUsers(
  em: EntityManager,
  slug: DemoSlug,
  owner: { organizationId: string; createdAt: Date },
  defaultWorkspaceId: string,
): Promise<Record<DemoLogin, string>> {
  const emailOf = (login: DemoLogin) => `${login}@${slug}.test`;
  const emails = demoUsers.map(({ login }) => emailOf(login));
  const present = await em.find(User, { email: { $in: emails } }, { filters: false });
  const missing = demoUsers.filter(({ login }) => !present.some(({ email }) => email === emailOf(login)));
  const rows = missing.map(async ({ login, name, role, platformRole }) => ({
    ...owner,
    id: newId('usr'),
    email: emailOf(login),
    name,
    role,
    passwordHash: await hashPassword(DEMO_PASSWORD),
    platformRoles: [platformRole],
    defaultWorkspaceId,
    updatedAt: owner.createdAt,
  }));
  await insertMissing(em, User, ['email'], await Promise.all(rows));
  const users = await em.find(User, { email: { $in: emails } }, { filters: false });
  const ids = users.map((user): [string, string] => [user.email.slice(0, user.email.indexOf('@')), user.id]);
  return Object.fromEntries(ids) as Record<DemoLogin, string>;
}

async function seedClients(
  em: EntityManager,
  { secrets }: Pick<Services, 'secrets'>,
  tenants: ReadonlyMap<DemoSlug, DemoTenant>,
  createdAt: Date,
): Promise<void> {
  const confidential = demoClients.map(({ clientId, role, organization }) => ({
    clientId,
    kind: 'confidential' as const,
    sealedSecret: secrets.seal(DEMO_PASSWORD),
    redirectUris: [],
    roles: [role],
    workspaceId: tenants.get(organization)?.workspaceId ?? null,
    createdAt,
  }));
  const open = {
    ...demoPublicClient,
    kind: 'public' as const,
    sealedSecret: null,
    roles: [],
    workspaceId: null,
    createdAt,
  };
  await insertMissing(em, OidcClient, ['clientId'], [...confidential, open]);
}

async function insertMissing<T extends object>(
  em: EntityManager,
  entity: EntityName<T>,
  key: (keyof T & string)[],
  rows: EntityData<T>[],
): Promise<void> {
  if (rows.length === 0) return;
  await em.upsertMany(entity, rows, { onConflictFields: key, onConflictAction: 'ignore' });
}
