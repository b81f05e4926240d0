import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { DEMO_PASSWORD } from '../../src/domain/identity/index.js';
import { OidcClient } from '../../src/entities/identity/oidc-client.js';
import { Organization } from '../../src/entities/identity/organization.js';
import { Session } from '../../src/entities/identity/session.js';
import { User, UserRole } from '../../src/entities/identity/user.js';
import { Workspace } from '../../src/entities/identity/workspace.js';
import { newId, newUuid } from '../../src/entities/ids.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { clientCredential } from '../support/credentials.js';
import { type Call, caller } from '../support/rest.js';

/** One workspace of one organization, with everybody and everything in it. */
export interface House {
  readonly name: 'own' | 'sibling' | 'stranger';
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Stands in the name of everything made here. */
  readonly marker: string;
  /** The Authorization header of an ADMIN of the workspace. */
  readonly platform: Record<string, string>;
  /** Everything made here, by what owns it. */
  readonly made: { organization: Set<string>; workspace: Set<string> };
}

/** Somebody new who may do everything in a house, so that whatever one operation does to its caller hurts no other. */
export interface Actor {
  readonly house: House;
  readonly houses: Houses;
  readonly userId: string;
  readonly email: string;
  readonly sessionId: string;
  /** The Authorization header of a tenant_admin. */
  readonly itsm: Record<string, string>;
  readonly asItsm: Call;
  readonly asPlatform: Call;
}

export interface Houses {
  readonly app: TestApp;
  /** Unfiltered and as the owner of the tables: sees and may do everything. */
  em(): EntityManager;
  readonly own: House;
  /** Another workspace of the own organization. */
  readonly sibling: House;
  /** The other organization. */
  readonly stranger: House;
  /** Sends `headers` with each of its requests. */
  actor(house: House, headers?: Record<string, string>): Promise<Actor>;
  /** What the rows of a house look like now: the same text means that none came, went or changed. */
  digest(house: House): Promise<string>;
  close(): Promise<void>;
}

/** Acme with two workspaces, and Globex. No worker runs, so that nothing changes by itself. */
export async function openHouses(): Promise<Houses> {
  const app = await startTestApp({ ROLE: 'api', RATE_LIMIT_DISABLED: 'true' });
  const em = () => app.database.orm.em.fork();
  const acme = await em().findOneOrFail(Organization, { slug: 'acme' });
  const globex = await em().findOneOrFail(Organization, { slug: 'globex' });
  const second = { id: newUuid(), organizationId: acme.id, slug: 'second', name: 'Second' };
  await em().insert(Workspace, { ...second, createdAt: new Date() });
  const workspaceOf = async (organizationId: string) =>
    (await em().findOneOrFail(Workspace, { organizationId, slug: 'default' }, { filters: false })).id;

  const house = async (name: House['name'], organizationId: string, workspaceId: string): Promise<House> => ({
    name,
    organizationId,
    workspaceId,
    marker: `made-by-${name}-${randomUUID()}`,
    platform: await platformAdmin(app, em(), name, workspaceId),
    made: {
      organization: new Set(name === 'stranger' ? [organizationId] : []),
      workspace: new Set([workspaceId]),
    },
  });
  const own = await house('own', acme.id, await workspaceOf(acme.id));
  const sibling = await house('sibling', acme.id, second.id);
  const stranger = await house('stranger', globex.id, await workspaceOf(globex.id));
  const houses: Houses = {
    app,
    em,
    own,
    sibling,
    stranger,
    actor: (of, headers = {}) => createActor(houses, of, headers),
    digest: (of) => digest(em(), of),
    close: () => app.close(),
  };
  return houses;
}

async function platformAdmin(app: TestApp, em: EntityManager, name: string, workspaceId: string) {
  const clientId = `matrix-${name}`;
  await em.insert(OidcClient, {
    clientId,
    kind: 'confidential',
    sealedSecret: app.services.secrets.seal(DEMO_PASSWORD),
    redirectUris: [],
    roles: ['ADMIN'],
    workspaceId,
    createdAt: new Date(),
  });
  return clientCredential(app.url, clientId);
}

async function createActor(houses: Houses, house: House, headers: Record<string, string>): Promise<Actor> {
  const { app } = houses;
  const user = await insertUser(houses, house, UserRole.tenant_admin);
  const sessionId = await insertSession(houses, house, user.id);
  const token = await app.services.itsmTokens.issue(user, sessionId);
  const itsm = { ...headers, authorization: `Bearer ${token}` };
  return {
    house,
    houses,
    userId: user.id,
    email: user.email,
    sessionId,
    itsm,
    asItsm: caller(app.url, itsm),
    asPlatform: caller(app.url, { ...headers, ...house.platform }),
  };
}

export async function insertSession(houses: Houses, house: House, userId: string): Promise<string> {
  const id = newId('ses');
  const { organizationId, made } = house;
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + 86_400_000);
  await houses.em().insert(Session, { id, organizationId, userId, createdAt, expiresAt });
  made.organization.add(id);
  return id;
}

/** With the password of the demo users. */
export async function insertUser(houses: Houses, house: House, role: UserRole) {
  const { organizationId, marker, workspaceId } = house;
  const id = newId('usr');
  const now = new Date();
  const demo = await houses.em().findOneOrFail(User, { email: 'user@acme.test' }, { filters: false });
  const user = { id, organizationId, email: `${id}@${marker}.test`.toLowerCase(), role };
  await houses.em().insert(User, {
    ...user,
    name: marker,
    passwordHash: demo.passwordHash,
    lockedAt: null,
    platformRoles: [],
    active: true,
    defaultWorkspaceId: workspaceId,
    createdAt: now,
    updatedAt: now,
  });
  house.made.organization.add(id);
  return user;
}

/** What changes in its own time: a sequencer numbers events, a session remembers its last use some moments later. */
const settled = "to_jsonb(t) - '{seq,last_used_at,expires_at}'::text[]";

async function digest(em: EntityManager, house: House): Promise<string> {
  const columns = await em.execute<{ table: string; names: string[] }[]>(
    `select table_name as "table", array_agg(column_name::text) as names
     from information_schema.columns where table_schema = 'public' group by table_name order by table_name`,
  );
  const [column, value] =
    house.name === 'sibling'
      ? ['workspace_id', house.workspaceId]
      : ['organization_id', house.organizationId];
  const parts = columns.flatMap(({ table, names }) => {
    const condition = names.includes(column)
      ? `${column} = '${value}'`
      : names.includes('run_id')
        ? `run_id in (select id from run where ${column} = '${value}')`
        : table === 'organization' && `id = '${value}'`;
    if (!condition) return [];
    const rows = `select ${settled} as line from "${table}" t where ${condition}`;
    return [
      `select '${table}' as name, count(*), md5(string_agg(line::text, '|' order by line::text)) from (${rows}) r`,
    ];
  });
  const rows = await em.execute<object[]>(parts.join(' union all '));
  return rows.map((row) => Object.values(row).join(' ')).join('\n');
}
