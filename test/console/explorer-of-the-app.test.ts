import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startTestApp, type TestApp } from '../support/app.js';
import { caller } from '../support/rest.js';
import { answerWith, browserPath, buildConsole, launchBrowser, runDocument } from './browser.js';

let app: TestApp;
let browser: Browser;

(browserPath === undefined ? describe.skip : describe)('the explorer of the whole server', () => {
  beforeAll(async () => {
    await buildConsole();
    app = await startTestApp();
    browser = await launchBrowser();
  }, 90_000);
  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  it('logs a demo user in, files a ticket, and shows the next one as it is filed', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${app.url}/graphql`);
    await page.getByLabel('E-mail').fill('agent@acme.test');
    await page.getByLabel('Password').fill('opsgraph-demo');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Logged in as agent@acme.test').waitFor();

    await runDocument(page, 'mutation { createTicket(input: { title: "filed in the explorer" }) { title } }');
    await answerWith(page, 'filed in the explorer');

    const subscribed = page
      .waitForEvent('websocket')
      .then((socket) =>
        socket.waitForEvent('framesent', ({ payload }) => String(payload).includes('"subscribe"')),
      );
    await runDocument(page, 'subscription { ticketEvents { seq type payload } }');
    await subscribed;
    // The feed answers from where the subscription began, which the page does not tell: filed until one is seen.
    const agent = caller(app.url, await app.itsm('agent@acme.test'));
    const seen = answerWith(page, 'filed elsewhere');
    const filed = await agent('POST', '/v1/tickets', { title: 'filed elsewhere' });
    expect(filed.status).toBe(201);
    await seen;
    expect(complaints).toEqual([]);
  }, 90_000);
});
