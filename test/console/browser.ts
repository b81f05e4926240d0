import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined where there is none; its tests are skipped then. */
export const browserPath =
  process.env['CHROMIUM_PATH'] ?? BROWSERS.find((candidate) => existsSync(candidate));
if (browserPath === undefined)
  console.warn(`Skipped: no Chromium at ${BROWSERS.join(', ')} or CHROMIUM_PATH`);

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(browserPath !== undefined && { executablePath: browserPath }),
    // The sandbox does not work for root, as whom containers run.
    chromiumSandbox: process.getuid?.() !== 0,
  });
}

export async function buildConsole(): Promise<void> {
  await promisify(execFile)(process.execPath, [path.join(ROOT, 'scripts/build-console.mjs')]);
}

/** Runs a document in the explorer that is open in the page. */
export async function runDocument(page: Page, document: string): Promise<void> {
  await page.locator('.graphiql-query-editor .monaco-editor').first().click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  // As pasted: typed text would have its braces completed by the editor.
  await page.keyboard.insertText(document);
  await page.locator('.graphiql-execute-button').click();
}

export function answerWith(page: Page, text: string): Promise<void> {
  return page.locator('.graphiql-response').getByText(text).first().waitFor({ timeout: 15_000 });
}
