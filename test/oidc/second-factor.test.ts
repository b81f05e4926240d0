import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { TOTP } from 'otpauth';
import { createContext } from '../../src/context.js';
import { confirmMfa, DEMO_PASSWORD, login, seedDemo, setUpMfa } from '../../src/domain/identity/index.js';
import { loggedIn } from '../identity/logged-in.js';
import { startNode, type TestNode } from '../identity/node.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { begin, REDIRECT_URI } from './authorization.js';
import { Browser } from './browser.js';
import { type ServedIssuer, serveIssuer } from './served-issuer.js';

const email = 'agent@acme.test';
let database: TestDatabase;
let node: TestNode;
let served: ServedIssuer;
let totp: TOTP;
let backupCodes: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  node = await startNode(database.url);
  await seedDemo(node.services);
  served = await serveIssuer(node);
  const { accessToken } = await loggedIn(node.anonymous(), { email, password: DEMO_PASSWORD });
  const itsm = await node.services.itsmTokens.verify(accessToken);
  const context = createContext(node.services, 'req_test', { itsm });
  const { secret } = await setUpMfa(context, { method: 'totp' });
  totp = new TOTP({ secret: secret ?? '' });
  ({ backupCodes } = await confirmMfa(context, { code: code() }));
});
beforeEach(async () => {
  node.clock.offsetMs += 30_000;
  await database.orm.em.execute('delete from login_guard');
});
afterAll(async () => {
  await served.close();
  await node.close();
  await database.close();
});

const code = () => totp.generate({ timestamp: node.services.now().getTime() });

async function passwordGiven() {
  const browser = new Browser();
  const { configuration, verifier, state, address } = await begin(served.issuer);
  const loginPage = await browser.visit(address, REDIRECT_URI);
  const page = await browser.submit(loginPage, '/login', REDIRECT_URI, { email, password: DEMO_PASSWORD });
  const exchange = (url: URL) =>
    client.authorizationCodeGrant(configuration, url, { pkceCodeVerifier: verifier, expectedState: state });
  return { browser, page, exchange };
}

describe('the login page of the issuer', () => {
  it('asks whoever has a second factor for a code, and only then for consent', async () => {
    const { browser, page, exchange } = await passwordGiven();
    expect(page.html).toContain('one-time-code');
    expect(page.html).not.toContain('/consent');
    const consent = await browser.submit(page, '/mfa', REDIRECT_URI, { code: code() });
    const { url } = await browser.submit(consent, '/consent', REDIRECT_URI);
    expect(decodeJwt((await exchange(url)).access_token)).toMatchObject({ email });
  });

  it('takes a backup code once', async () => {
    const typed = { code: backupCodes[0] ?? '' };
    const first = await passwordGiven();
    expect((await first.browser.submit(first.page, '/mfa', REDIRECT_URI, typed)).html).toContain('/consent');
    const second = await passwordGiven();
    const refused = await second.browser.submit(second.page, '/mfa', REDIRECT_URI, typed);
    expect(refused.response.status).toBe(401);
  });

  it('does not consent for who skips the code', async () => {
    const { browser, page } = await passwordGiven();
    const skipped = page.html.replaceAll('/mfa"', '/consent"');
    const answer = await browser.submit({ ...page, html: skipped }, '/consent', REDIRECT_URI);
    expect(answer.response.status).toBe(400);
  });

  it('asks again after a wrong code, and for the password when the challenge is over', async () => {
    let { browser, page } = await passwordGiven();
    for (let n = 0; n < 5; n += 1) {
      page = await browser.submit(page, '/mfa', REDIRECT_URI, { code: 'zzzzzzzz' });
      expect(page.response.status).toBe(401);
    }
    page = await browser.submit(page, '/mfa', REDIRECT_URI, { code: code() });
    expect(page.html).toContain('current-password');
    await expect(login(node.anonymous(), { email, password: DEMO_PASSWORD })).rejects.toMatchObject({
      code: 'ACCOUNT_LOCKED',
    });
  });

  it('locks as /v1 does: five wrong passwords here are five there', async () => {
    const browser = new Browser();
    const { address } = await begin(served.issuer);
    let page = await browser.visit(address, REDIRECT_URI);
    for (let n = 0; n < 5; n += 1)
      page = await browser.submit(page, '/login', REDIRECT_URI, { email, password: 'wrong' });
    expect(page.response.status).toBe(401);
    page = await browser.submit(page, '/login', REDIRECT_URI, { email, password: DEMO_PASSWORD });
    expect(page.response.status).toBe(403);
    expect(page.html).toContain('locked');
    await expect(login(node.anonymous(), { email, password: DEMO_PASSWORD })).rejects.toMatchObject({
      code: 'ACCOUNT_LOCKED',
    });
  });
});
