/** A real Chromium, for tests of the pages. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { chromiumLaunch } from '../../scripts/chromium.ts';
import { type Cleanup, nestedCleanup } from '../support/cleanup.ts';
import { WAIT_TIMEOUT_MS, waitFor } from '../support/wait.ts';

const WIDE = { width: 1280, height: 800 };

interface PageOptions extends Pick<BrowserContextOptions, 'viewport' | 'permissions' | 'reducedMotion'> {
  /** Stored as the explorer's key before anything loads. */
  key?: string;
}

type OpenPage = (t: Cleanup, url: string, options?: PageOptions) => Promise<Page>;

/**
 * Declares the tests of one page. They share a browser, and each page that a test opens must be free of script errors,
 * refused content and dialogs. Resources close in reverse order of opening, so that no page loses its server.
 */
export function pageTests(tests: Record<string, (t: Cleanup, open: OpenPage) => Promise<void>>): void {
  let browser: Browser | undefined;
  before(async () => {
    browser = await chromium.launch({ ...chromiumLaunch(), timeout: WAIT_TIMEOUT_MS });
  });
  after(() => browser?.close());
  const open: OpenPage = (t, url, options) => {
    if (browser === undefined) throw new Error('the browser has not started');
    return openPage(browser, t, url, options);
  };
  for (const [name, run] of Object.entries(tests)) test(name, (t) => run(nestedCleanup(t), open));
}

/** The text of the one element that a locator finds. */
export async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? '';
}

/** Records the text of every change in a page. */
const RECORDER = `
  globalThis.shownTexts = [];
  new MutationObserver((changes) => {
    for (const { target } of changes) shownTexts.push(target.textContent ?? '');
  }).observe(document, { subtree: true, childList: true, characterData: true });`;

/**
 * For momentary content: the returned function resolves when the page has shown the text since the call, also across a
 * reload.
 */
export async function recordTexts(page: Page): Promise<(text: string) => Promise<void>> {
  await page.addInitScript(RECORDER);
  await page.evaluate(RECORDER);
  return async (text) => {
    const hasShown = `shownTexts.some((one) => one.includes(${JSON.stringify(text)}))`;
    await waitFor(() => page.evaluate(hasShown), { what: `the page to show "${text}"` });
  };
}

async function openPage(
  browser: Browser,
  t: Cleanup,
  url: string,
  { key, ...options }: PageOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  context.setDefaultTimeout(WAIT_TIMEOUT_MS);
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
  const keeping = await page.addInitScript((text) => {
    if (text !== undefined) sessionStorage.setItem('atlas-api-key', text);
  }, key);
  await page.goto(url);
  await keeping.dispose(); // otherwise every page load would restore the key
  return page;
}
