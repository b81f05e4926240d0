import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO_PASSWORD, login, seedDemo } from '../../src/domain/identity/index.js';
import { OidcClient } from '../../src/entities/identity/oidc-client.js';
import { Organization } from '../../src/entities/identity/organization.js';
import { Team } from '../../src/entities/identity/team.js';
import { TeamMember } from '../../src/entities/identity/team-member.js';
import { User } from '../../src/entities/identity/user.js';
import { Workspace } from '../../src/entities/identity/workspace.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startNode, type TestNode } from './node.js';

let database: TestDatabase;
let nodes: TestNode[];

beforeAll(async () => {
  database = await createTestDatabase();
  nodes = await Promise.all([startNode(database.url), startNode(database.url), startNode(database.url)]);
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await database.close();
});

const counted = { User: 8, Organization: 2, Workspace: 2, Team: 2, TeamMember: 2, OidcClient: 7 };

async function count(): Promise<Record<string, number>> {
  const em = database.orm.em.fork();
  const entities = { User, Organization, Workspace, Team, TeamMember, OidcClient };
  const counts = Object.entries(entities).map(async ([name, entity]) => [
    name,
    await em.count<object>(entity, {}, { filters: false }),
  ]);
  return Object.fromEntries(await Promise.all(counts));
}

describe('the demo seed', () => {
  it('makes everything once, when three nodes start at the same moment, and gives each the same ids', async () => {
    const [first, ...others] = await Promise.all(nodes.map(({ services }) => seedDemo(services)));
    for (const other of others) expect(other).toEqual(first);
    expect(await count()).toEqual(counted);
    expect(first?.acme.userIds.agent).toMatch(/^usr_/);
  });

  it('gives every user a salt of its own and every login its role', async () => {
    const users = await database.orm.em.fork().find(User, {}, { filters: false });
    expect(new Set(users.map(({ passwordHash }) => passwordHash)).size).toBe(8);
    const [node] = nodes;
    if (!node) throw new Error('no node');
    for (const { email, role } of users) {
      await expect(login(node.anonymous(), { email, password: DEMO_PASSWORD })).resolves.toMatchObject({
        user: { role },
      });
    }
  });

  it('changes nothing at the next start: not even what somebody changed', async () => {
    const [node] = nodes;
    if (!node) throw new Error('no node');
    const em = database.orm.em.fork();
    await em.nativeUpdate(
      User,
      { email: 'user@acme.test' },
      { active: false, name: 'Gone' },
      { filters: false },
    );
    const started = performance.now();
    await seedDemo(node.services);
    expect(performance.now() - started).toBeLessThan(200);
    expect(await count()).toEqual(counted);
    const user = await em.findOneOrFail(User, { email: 'user@acme.test' }, { filters: false });
    expect(user).toMatchObject({ active: false, name: 'Gone' });
  });
});
