import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KeyedRows, readBoth, readByKey } from '../../src/database/read-by-key.js';
import { Connection } from '../../src/entities/connections/connection.js';
import { Team } from '../../src/entities/identity/team.js';
import { TeamMember } from '../../src/entities/identity/team-member.js';
import { newUuid } from '../../src/entities/ids.js';
import { ORGANIZATION_FILTER, WORKSPACE_FILTER } from '../../src/entities/tenancy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Statement, watchStatements } from '../tickets/statements.js';

const MINE = 'org_mine';
const THEIRS = 'org_theirs';
const WORKSPACES = [newUuid(), newUuid()] as const;
const AT = new Date('2026-03-01T10:20:30.456Z');
/** What a text must not say in a statement. */
const QUOTED = "it's a \\ key, $& and $1";

const teams: KeyedRows<Team> = { entity: Team, key: 'id' };
const members: KeyedRows<TeamMember> = { entity: TeamMember, key: 'teamId', orderBy: 'userId' };

let database: TestDatabase;
let statements: Statement[];
let stopWatching: () => void;

beforeAll(async () => {
  database = await createTestDatabase();
  const em = database.orm.em.fork();
  for (const [id, organizationId] of [
    ['team_a', MINE],
    [QUOTED, MINE],
    ['team_theirs', THEIRS],
  ] as const) {
    em.create(Team, { id, organizationId, name: id, createdAt: AT });
    for (const userId of ['usr_2', 'usr_1', 'usr_3'])
      em.create(TeamMember, { teamId: id, userId, organizationId });
  }
  for (const workspaceId of WORKSPACES) {
    em.create(Connection, {
      id: newUuid(),
      organizationId: MINE,
      workspaceId,
      name: 'warehouse',
      type: 'postgres',
      config: { host: 'db' },
      sealedCredentials: 'sealed',
      createdAt: AT,
      updatedAt: AT,
      createdBy: 'sub',
    });
  }
  await em.flush();
  ({ statements, stop: stopWatching } = await watchStatements(database.orm));
});

afterAll(async () => {
  stopWatching();
  await database.close();
});

function emOf(organizationId: string) {
  const em = database.orm.em.fork();
  em.setFilterParams(ORGANIZATION_FILTER, { organizationId });
  return em;
}

describe('readByKey', () => {
  it('reads the rows of all values, whatever a value holds', async () => {
    const rows = await readByKey(emOf(MINE), teams, ['team_a', QUOTED, 'team_unknown']);
    expect(new Map(rows.map((row) => [row.id, row]))).toEqual(
      new Map(
        ['team_a', QUOTED].map((id) => [
          id,
          expect.objectContaining({ id, organizationId: MINE, name: id, createdAt: AT }),
        ]),
      ),
    );
  });

  it('keeps the order it is asked for', async () => {
    const rows = await readByKey(emOf(MINE), members, ['team_a']);
    expect(rows.map(({ userId }) => userId)).toEqual(['usr_1', 'usr_2', 'usr_3']);
  });

  it('asks the database nothing for no values', async () => {
    statements.length = 0;
    expect(await readByKey(emOf(MINE), teams, [])).toEqual([]);
    expect(statements).toEqual([]);
  });

  it('shows each tenant its own, whoever asked before', async () => {
    for (const [organizationId, seen] of [
      [MINE, ['team_a']],
      [THEIRS, ['team_theirs']],
      [MINE, ['team_a']],
    ] as const) {
      const rows = await readByKey(emOf(organizationId), teams, ['team_a', 'team_theirs']);
      expect(rows.map(({ id }) => id)).toEqual(seen);
    }
    await expect(readByKey(database.orm.em.fork(), teams, ['team_a'])).rejects.toThrow(
      /No arguments provided for filter 'organization'/,
    );
  });

  it('looks into another workspace only where it is told to, and at no hidden column', async () => {
    const em = emOf(MINE);
    em.setFilterParams(WORKSPACE_FILTER, { workspaceId: WORKSPACES[0] });
    const named: KeyedRows<Connection> = { entity: Connection, key: 'name' };
    const [own, ...none] = await readByKey(em, named, ['warehouse']);
    expect([own?.workspaceId, none]).toEqual([WORKSPACES[0], []]);
    expect(own).not.toHaveProperty('sealedCredentials');
    const everywhere = { ...named, filters: { [WORKSPACE_FILTER]: false } };
    expect(await readByKey(em, everywhere, ['warehouse'])).toHaveLength(2);
  });

  it('reads inside the transaction of its EntityManager', async () => {
    await emOf(MINE).transactional(async (inner) => {
      await inner.nativeUpdate(Team, { id: 'team_a' }, { name: 'changed, not committed' });
      const [team] = await readByKey(inner, teams, ['team_a']);
      expect(team?.name).toBe('changed, not committed');
      await inner.rollback();
    });
  });
});

describe('readBoth', () => {
  it('reads two entities with one message', async () => {
    statements.length = 0;
    const [[team], found] = await readBoth(emOf(MINE), teams, members, 'team_a');
    expect(team?.name).toBe('team_a');
    expect(found.map(({ userId }) => userId)).toEqual(['usr_1', 'usr_2', 'usr_3']);
    expect(statements).toHaveLength(1);
  });

  it('gives empty lists for what is not there or is somebody else’s', async () => {
    expect(await readBoth(emOf(MINE), teams, members, 'team_unknown')).toEqual([[], []]);
    expect(await readBoth(emOf(MINE), teams, members, 'team_theirs')).toEqual([[], []]);
  });

  it('is under row-level security like any other statement of its EntityManager', async () => {
    const em = emOf(MINE);
    em.setSessionContext({ variables: { 'app.organization': MINE } });
    statements.length = 0;
    const sent: string[] = [];
    const pool = await em.getConnection().getNativeClient();
    const query = pool.query.bind(pool);
    Object.assign(pool, {
      query: (text: string) => {
        sent.push(text);
        return query(text);
      },
    });
    try {
      await readBoth(em, teams, members, 'team_a');
    } finally {
      Reflect.deleteProperty(pool, 'query');
    }
    expect(sent).toEqual([expect.stringMatching(/^set local "app"."organization" = 'org_mine';/)]);
  });
});
