/** A real Chromium, for tests of the pages. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, type TestContext, test } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** How long a page may take to show something; long, since a machine may have other work. */
const PAGE_TIMEOUT_MS = 45_000;

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 390, height: 844 };

export interface PageOptions extends Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'permissions'> {
  /** Kept as the explorer's key before anything is loaded. */
  key?: string;
}

export type OpenPage = (t: TestContext, url: string, options?: PageOptions) => Promise<Page>;

/**
 * Declares the tests of one page: they share a browser, and each page that a test opens must be free of script
 * errors, refused content and dialogs. Without Chromium they are left out, and say so.
 */
export function pageTests(tests: Record<string, (t: TestContext, open: OpenPage) => Promise<void>>): void {
  const leftOut = existsSync(CHROMIUM) ? false : `there is no ${CHROMIUM}`;
  let browser: Browser | undefined;
  before(async () => {
    if (leftOut === false) browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
  });
  after(() => browser?.close());
  const open: OpenPage = (t, url, options) => {
    if (browser === undefined) throw new Error('the browser has not started');
    return openPage(browser, t, url, options);
  };
  for (const [name, run] of Object.entries(tests)) test(name, { skip: leftOut }, (t) => run(t, open));
}

/** The text of the one element that a locator finds. */
export async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? '';
}

async function openPage(
  browser: Browser,
  t: TestContext,
  url: string,
  { key, ...options }: PageOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    const network = /^Failed to load resource|^WebSocket connection to/.test(message.text());
    if (message.type() === 'error' && !network) faults.push(message.text());
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  if (key !== undefined) {
    await page.goto(`${new URL(url).origin}/healthz`);
    await page.evaluate((text) => sessionStorage.setItem('atlas-api-key', text), key);
  }
  await page.goto(url);
  return page;
}
