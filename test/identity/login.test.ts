import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { DEMO_PASSWORD } from '../../src/domain/identity/demo-tenants.js';
import { rolePermissions } from '../../src/domain/identity/index.js';
import { seedDemo } from '../../src/domain/identity/seed-demo.js';
import { RefreshToken } from '../../src/entities/identity/refresh-token.js';
import { User } from '../../src/entities/identity/user.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { loggedIn } from './logged-in.js';
import { startNode, type TestNode } from './node.js';

let database: TestDatabase;
let node: TestNode;

beforeAll(async () => {
  database = await createTestDatabase();
  node = await startNode(database.url);
  await seedDemo(node.services);
});

afterAll(async () => {
  await node.close();
  await database.close();
});

describe('login', () => {
  it('answers with the fields of the document and a token that carries its seven claims', async () => {
    const { user, ...tokens } = await loggedIn(node.anonymous(), {
      email: ' Agent@Acme.test',
      password: DEMO_PASSWORD,
    });
    expect(Object.keys(tokens).sort()).toEqual(['accessToken', 'expiresIn', 'refreshToken', 'tokenType']);
    expect(tokens).toMatchObject({ expiresIn: 900, tokenType: 'Bearer' });
    expect(user).toMatchObject({ email: 'agent@acme.test', role: 'service_desk_agent' });

    const claims = decodeJwt(tokens.accessToken);
    const { iat = 0 } = claims;
    expect(claims).toEqual({
      sub: user.id,
      email: 'agent@acme.test',
      organizationId: user.organizationId,
      role: 'service_desk_agent',
      sessionId: expect.stringMatching(/^ses_[0-9a-hjkmnp-tv-z]{26}$/),
      permissions: rolePermissions.service_desk_agent,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iss: 'urn:opsgraph:itsm',
      aud: 'urn:opsgraph:itsm:v1',
      iat,
      exp: iat + 900,
    });
    expect(decodeProtectedHeader(tokens.accessToken)).toMatchObject({ alg: 'RS256', typ: 'at+jwt' });
    await expect(node.services.itsmTokens.verify(tokens.accessToken)).resolves.toMatchObject({
      userId: user.id,
    });
  });

  it('gives a refresh token of 7 days that is a JWT, and keeps only its hash', async () => {
    const { refreshToken } = await loggedIn(node.anonymous(), {
      email: 'user@acme.test',
      password: DEMO_PASSWORD,
    });
    const { iat = 0, exp = 0 } = decodeJwt(refreshToken);
    expect(exp - iat).toBe(7 * 24 * 3_600);
    const rows = await database.orm.em.fork().find(RefreshToken, {});
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(refreshToken.slice(-40));
  });

  it.each([
    ['an unknown address', 'nobody@acme.test', DEMO_PASSWORD],
    ['a wrong password', 'agent@acme.test', 'opsgraph-dem0'],
    ['a deactivated account', 'user@globex.test', DEMO_PASSWORD],
  ])('answers %s with one and the same sentence', async (_name, email, password) => {
    await database.orm.em
      .fork()
      .nativeUpdate(User, { email: 'user@globex.test' }, { active: false }, { filters: false });
    await expect(loggedIn(node.anonymous(), { email, password })).rejects.toMatchObject({
      code: 'AUTHENTICATION_ERROR',
      message: 'The e-mail address or the password is wrong',
      details: null,
    });
  });

  it('takes as long for an unknown address as for a wrong password', async () => {
    const attempt = async (email: string) => {
      const started = performance.now();
      await loggedIn(node.anonymous(), { email, password: 'wrong' }).catch(() => undefined);
      return performance.now() - started;
    };
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let round = 0; round < 15; round += 1) {
      // Five wrong ones would lock the account, and what is locked is answered without any hashing.
      await database.orm.em.execute('delete from login_guard');
      times.known.push(await attempt('agent@acme.test'));
      times.unknown.push(await attempt(`nobody${round}@acme.test`));
    }
    const median = (values: number[]) => values.sort((a, b) => a - b)[7] ?? Number.NaN;
    const ratio = median(times.unknown) / median(times.known);
    // Without the dummy hash it would be about 0.15; a busy machine moves it less than that.
    expect(ratio).toBeGreaterThan(0.4);
    expect(ratio).toBeLessThan(2.5);
  });

  it.each([
    [{ email: '', password: 'x' }, 'email', 'isNotEmpty'],
    [{ email: 'no-address', password: 'x' }, 'email', 'isEmail'],
    [{ email: 'a@b.test', password: '' }, 'password', 'isNotEmpty'],
    [{ email: 'a@b.test', password: 'x'.repeat(1_025) }, 'password', 'maxLength'],
  ])('refuses %j', async (input, field, constraint) => {
    await expect(loggedIn(node.anonymous(), input)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field, constraint },
    });
  });

  it('logs neither password nor token', async () => {
    const { accessToken, refreshToken } = await loggedIn(node.anonymous(), {
      email: 'admin@acme.test',
      password: DEMO_PASSWORD,
    });
    node.services.log.info('a line to find');
    expect(node.logged()).toContain('a line to find');
    for (const secret of [DEMO_PASSWORD, accessToken, refreshToken, '$argon2id$'])
      expect(node.logged()).not.toContain(secret);
  });
});
