import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express, { type Express } from 'express';
import { graphql } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import type { Browser, Page } from 'playwright-core';
import { WebSocketServer } from 'ws';
import { createExplorer } from '../../src/gateway/explorer.js';
import { startGateway, type TestGateway } from '../gateway/gateway-server.js';
import { answerWith, browserPath, buildConsole, launchBrowser, runDocument } from './browser.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let gateway: TestGateway;
let sockets: WebSocketServer;
/** What the server got to see of who asks. */
let authorizations: { http: Set<string | undefined>; socket: Set<unknown> };

beforeAll(async () => {
  await buildConsole();
  authorizations = { http: new Set(), socket: new Set() };
  gateway = await startGateway({ mount });
  sockets = new WebSocketServer({ server: gateway.server, path: '/graphql' });
  useServer(
    {
      schema,
      onConnect: ({ connectionParams }) => {
        authorizations.socket.add(connectionParams?.['authorization']);
      },
    },
    sockets,
  );
}, 60_000);

afterAll(async () => {
  for (const client of sockets.clients) client.terminate();
  sockets.close();
  await gateway.close();
});

const schema = makeExecutableSchema({
  typeDefs: 'type Query { greeting: String! } type Subscription { count: Int! }',
  resolvers: {
    Query: { greeting: () => 'hello from the graph' },
    Subscription: {
      count: {
        subscribe: async function* () {
          for (const count of [41, 42]) yield { count };
        },
      },
    },
  },
});

function mount(app: Express): void {
  app.use(createExplorer({ endpoint: '/graphql', loginPath: '/v1/auth/login' }));
  app.post('/v1/auth/login', express.json(), (request, response) => {
    const { email, password } = request.body;
    if (password === 'right') response.json({ accessToken: `token-of-${email}` });
    else response.status(401).json({ success: false, error: { message: 'Wrong e-mail or password' } });
  });
  app.post('/graphql', express.json(), async (request, response) => {
    authorizations.http.add(request.headers.authorization);
    response.json(
      await graphql({ schema, source: request.body.query, operationName: request.body.operationName }),
    );
  });
}

describe('GET /graphql', () => {
  it('is the page for a browser, under a policy that allows only our own files', async () => {
    const response = await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';script-src 'self';/);
    expect(response.headers.get('vary')).toContain('Accept');
    const page = await response.text();
    expect(page).not.toMatch(/https?:\/\//);
    for (const [, file] of page.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
      const loaded = await fetch(gateway.url + file);
      expect([loaded.status, loaded.headers.get('cache-control')]).toStrictEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
      await loaded.body?.cancel();
    }
  });

  it('says that the explorer is missing when it has not been built', async () => {
    const bare = await startGateway({
      mount: (app) =>
        app.use(createExplorer({ endpoint: '/graphql', directory: path.join(ROOT, 'nothing') })),
    });
    const response = await fetch(`${bare.url}/graphql`, { headers: { accept: 'text/html' } });
    expect([response.status, await response.json()]).toMatchObject([503, { service: 'explorer' }]);
    await bare.close();
  });

  it('is left to GraphQL for everybody else, and a file that is not there is a 404', async () => {
    const data = await fetch(`${gateway.url}/graphql`, { headers: { accept: 'application/json' } });
    expect([data.status, data.headers.get('content-type')]).toStrictEqual([
      404,
      'application/json; charset=utf-8',
    ]);
    for (const file of ['/console/nothing.js', '/console/', '/console/..%2f..%2fpackage.json']) {
      const response = await fetch(gateway.url + file);
      expect([response.status, await response.json()]).toMatchObject([404, { error: 'NOT_FOUND' }]);
    }
  });
});

(browserPath === undefined ? describe.skip : describe)('in a browser', () => {
  let browser: Browser;
  let page: Page;
  const requested = new Set<string>();
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on('request', (request) => requested.add(request.url()));
    page.on('websocket', (socket) => requested.add(socket.url()));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${gateway.url}/graphql`);
  }, 60_000);

  afterAll(() => browser.close());

  const run = (query: string) => runDocument(page, query);
  const answer = (text: string) => answerWith(page, text);

  it('runs a query and a subscription with the token, and nothing leaves the origin', async () => {
    await page.getByLabel('E-mail').fill('agent@acme.test');
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Wrong e-mail or password').waitFor();
    await page.getByLabel('Password').fill('right');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Logged in as agent@acme.test').waitFor();
    expect(await page.getByLabel('Bearer token').inputValue()).toBe('token-of-agent@acme.test');

    await run('{ greeting }');
    await answer('hello from the graph');
    expect(authorizations.http).toContain('Bearer token-of-agent@acme.test');

    await run('subscription { count }');
    await answer('42');
    expect([...authorizations.socket]).toStrictEqual(['Bearer token-of-agent@acme.test']);

    if (process.env['SCREENSHOT']) await page.screenshot({ path: process.env['SCREENSHOT'] });
    const origin = new URL(gateway.url).host;
    const foreign = [...requested].filter(
      (url) => !url.startsWith('data:') && !url.startsWith('blob:') && new URL(url).host !== origin,
    );
    expect(foreign).toStrictEqual([]);
    // The workers are files of ours too: without them the editor would complain and fall back to the main thread.
    expect([...requested].filter((url) => url.endsWith('.worker.js')).length).toBeGreaterThan(0);
    expect(complaints.filter((text) => !text.includes('401'))).toStrictEqual([]);
  }, 90_000);

  it('keeps the token for the tab only', async () => {
    await page.reload();
    expect(await page.getByLabel('Bearer token').inputValue()).toBe('token-of-agent@acme.test');
    const other = await browser.newPage();
    await other.goto(`${gateway.url}/graphql`);
    expect(await other.getByLabel('Bearer token').inputValue()).toBe('');
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('token-of-');
  }, 60_000);
});
