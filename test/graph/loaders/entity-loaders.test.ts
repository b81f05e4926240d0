import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Organization } from '../../../src/entities/identity/organization.js';
import { Team } from '../../../src/entities/identity/team.js';
import { User } from '../../../src/entities/identity/user.js';
import { ORGANIZATION_FILTER } from '../../../src/entities/tenancy.js';
import { createLoaders } from '../../../src/graph/loaders/entity-loaders.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type Statement, watchStatements } from '../../tickets/statements.js';

let database: TestDatabase;
let statements: Statement[];
let stopWatching: () => void;

const at = new Date('2026-01-01T00:00:00Z');
const USERS = 25;

beforeAll(async () => {
  database = await createTestDatabase();
  const em = database.orm.em.fork();
  for (const tenant of ['acme', 'globex']) {
    const organizationId = `org_${tenant}`;
    em.create(Organization, { id: organizationId, slug: tenant, name: tenant, createdAt: at });
    em.create(Team, { id: `team_${tenant}`, organizationId, name: 'desk', createdAt: at });
    for (let n = 0; n < USERS; n++) {
      em.create(User, {
        id: `usr_${tenant}_${n}`,
        organizationId,
        email: `${n}@${tenant}.test`,
        name: `${tenant} ${n}`,
        role: 'end_user',
        passwordHash: 'not to be read',
        active: true,
        platformRoles: [],
        createdAt: at,
        updatedAt: at,
      });
    }
  }
  await em.flush();
  ({ statements, stop: stopWatching } = await watchStatements(database.orm));
});

beforeEach(() => {
  statements.length = 0;
});

afterAll(async () => {
  stopWatching();
  await database.close();
});

function loadersOf(tenant: 'acme' | 'globex') {
  const em = database.orm.em.fork();
  em.setFilterParams(ORGANIZATION_FILTER, { organizationId: `org_${tenant}` });
  return createLoaders(em);
}

describe('the dataloaders of a request', () => {
  it('read what all rows point at with one statement per kind', async () => {
    const { user, team } = loadersOf('acme');
    const ids = Array.from({ length: 100 }, (_, n) => `usr_acme_${n % USERS}`);
    const [users, teams] = await Promise.all([
      Promise.all(ids.map((id) => user.load(id))),
      Promise.all(ids.map(() => team.load('team_acme'))),
    ]);
    expect(users.map((found) => found?.name)).toEqual(
      ids.map((id) => id.replace('usr_', '').replace('_', ' ')),
    );
    expect(teams.every((found) => found?.name === 'desk')).toBe(true);
    expect(statements).toHaveLength(2);
    await user.load('usr_acme_3');
    expect(statements).toHaveLength(2);
  });

  it('read dates as dates, and no secret', async () => {
    const found = await loadersOf('acme').user.load('usr_acme_0');
    expect(found?.createdAt).toEqual(at);
    expect(JSON.stringify(found)).not.toContain('not to be read');
  });

  it('find nothing of another organization', async () => {
    const { user, team, organization } = loadersOf('globex');
    expect(await user.loadMany(['usr_acme_0', 'usr_globex_0', 'usr_nobody'])).toEqual([
      null,
      expect.objectContaining({ id: 'usr_globex_0' }),
      null,
    ]);
    expect(await team.load('team_acme')).toBeNull();
    expect(await organization.loadMany(['org_acme', 'org_globex'])).toEqual([
      null,
      expect.objectContaining({ slug: 'globex' }),
    ]);
  });

  it('refuse to read for nobody', async () => {
    const { user, organization } = createLoaders(database.orm.em.fork());
    await expect(user.load('usr_acme_0')).rejects.toThrow(/No arguments provided for filter 'organization'/);
    expect(await organization.load('org_acme')).toBeNull();
  });
});
