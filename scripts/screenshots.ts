/**
 * Takes screenshots of `atlas-node dev`: those of the docs, or of each page at three widths in both themes. See
 * `--help`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumLaunch } from './chromium.ts';
import { type Demo, startDemo } from './demo.ts';
import { readOptions } from './options.ts';
import { palettePng } from './palette-png.ts';

const OUTPUT = fileURLToPath(new URL('../docs/images/', import.meta.url));
const VIEWPORT = { width: 1200, height: 800 };
/** Keeps the README fast to load. */
const MAX_BYTES = 80_000;
const TIMEOUT_MS = 120_000;
const SETTLE_MS = 1_500;
const WIDTHS = [390, 768, 1440];
const THEMES = ['light', 'dark'] as const;

const { all } = readOptions(
  'Starts a local chain with traffic and takes the pictures of docs/images, or with --all DIR a picture of ' +
    'each page at 390, 768 and 1440 px, light and dark.',
  { all: { about: 'folder for a picture of each page', kind: 'text', default: '' } },
);

const demo = await startDemo();
try {
  const browser = await chromium.launch(chromiumLaunch());
  try {
    mkdirSync(OUTPUT, { recursive: true });
    if (all === '') {
      await takeExplorer(browser, demo);
      await takePanel(browser, demo);
      await takeWalk(browser, demo);
    } else await takeAll(browser, demo, all);
  } finally {
    await browser.close();
  }
} finally {
  await demo.close();
}

async function takeExplorer(browser: Browser, { url, key, wallet }: Demo) {
  const page = await openPage(browser);
  await page.addInitScript((text) => sessionStorage.setItem('atlas-api-key', text), key);
  await page.goto(`${url}/address/${wallet}`);
  await page.locator('#transfers tbody tr').first().waitFor();
  await page.waitForLoadState('networkidle');
  await save(page, 'explorer');
}

async function takePanel(browser: Browser, { url, token }: Demo) {
  const page = await openPage(browser);
  await signIn(page, url, token);
  await page.getByRole('heading', { name: 'The last hour' }).waitFor();
  await page.getByText('Requests', { exact: true }).last().click();
  await save(page, 'panel');
}

/** The walk of docs/explorer.md, with the mouse alone. */
async function takeWalk(browser: Browser, { url, key }: Demo) {
  const page = await openPage(browser);
  await page.addInitScript((text) => sessionStorage.setItem('atlas-api-key', text), key);
  await page.goto(`${url}/`);
  await page.getByRole('link', { name: 'Third in a chain' }).click();
  const openTab = (name: string) => page.getByRole('link', { name, exact: true }).last().click();
  await openTab('Funding');
  const thirdHop = page.locator('.funding-chain li:has(.payment)').nth(2);
  await thirdHop.waitFor();
  await save(page, 'walk-funders');

  await thirdHop.getByRole('link').last().click();
  await openTab('Funding');
  const recipients = page.locator('#recipients');
  await recipients.getByRole('button', { name: 'What did they buy first?' }).click();
  const holder = recipients
    .locator('tbody tr')
    .filter({ has: page.locator('.in', { hasText: 'holds' }), hasNotText: 'Pool' });
  await holder.first().waitFor();
  await recipients.evaluate((section) => section.scrollIntoView());
  await save(page, 'walk-recipients');

  await holder.first().getByRole('link').first().click();
  await openTab('Tokens');
  await page.locator('#tokens tbody tr').first().waitFor();
  await save(page, 'walk-holding');
  await takeTrades(page, url);
}

/** A trader's profit, one of its transactions, and a launch that was bought for five wallets at once. */
async function takeTrades(page: Page, url: string) {
  await page.goto(`${url}/`);
  await page.getByRole('link', { name: 'Trader buys and sells' }).click();
  await page.getByRole('link', { name: 'Trades', exact: true }).click();
  await page.locator('#profit').getByRole('button', { name: 'Show' }).click();
  await page.locator('#curve .chart').waitFor();
  await page.locator('#profit').evaluate((section) => section.scrollIntoView());
  await page.waitForTimeout(SETTLE_MS);
  await save(page, 'walk-profit');

  await page.goto(`${url}/`);
  await page.getByRole('link', { name: 'Swing trader' }).click();
  await page.getByRole('link', { name: 'Trades', exact: true }).click();
  await page.locator('#trades tbody tr').last().getByRole('link').first().click();
  await page.locator('.flow').waitFor();
  await page.locator('.words').getByText('bought').waitFor();
  await save(page, 'walk-transaction');

  await page.goto(`${url}/search?q=BUNDLED`);
  await page.locator('.results a').first().click();
  await page.getByRole('link', { name: 'Launch', exact: true }).click();
  await page.locator('#launch tbody tr').first().waitFor();
  await page.locator('#launch').evaluate((section) => section.scrollIntoView());
  await save(page, 'walk-launch');
}

/** Every page, by the name of its screenshot. The panel's pages need its session. */
function pagesOf(wallet: string, token: string, tx: string): Record<string, string> {
  return {
    home: '/',
    ...Object.fromEntries(
      ['transfers', 'tokens', 'trades', 'flows', 'funding', 'network', 'counterparties'].map((tab) => [
        `wallet-${tab}`,
        `/address/${wallet}?tab=${tab}`,
      ]),
    ),
    ...Object.fromEntries(
      ['holders', 'transfers', 'buyers', 'launch', 'traders'].map((tab) => [
        `token-${tab}`,
        `/token/${token}?tab=${tab}`,
      ]),
    ),
    transaction: `/tx/${tx}`,
    block: '/block/3',
    search: '/search?q=demo',
    tokens: '/tokens',
    large: '/large',
    live: '/live',
    unknown: '/nothing/here',
    docs: '/docs',
    ...Object.fromEntries(
      ['overview', 'keys', 'index', 'sockets', 'hooks', 'settings'].map((part) => [
        `panel-${part}`,
        `/admin?part=${part}`,
      ]),
    ),
  };
}

async function takeAll(browser: Browser, { url, key, token, wallet }: Demo, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const context = await browser.newContext();
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  await page.goto(`${url}/`);
  await page.getByLabel('API key').waitFor();
  await takeViews(page, join(folder, 'first-visit'));
  await page.addInitScript((text) => sessionStorage.setItem('atlas-api-key', text), key);
  await signIn(page, url, token);
  const list = `${url}/api/address_transfers?address=${wallet}&type=erc20`;
  const { transfers } = JSON.parse(await (await fetch(list, { headers: { 'X-API-Key': key } })).text());
  const [{ tokenAddress, txHash }] = transfers;
  for (const [name, path] of Object.entries(pagesOf(wallet, tokenAddress, txHash))) {
    await page.goto(url + path);
    await page.locator('main :is(h1, h2)').first().waitFor();
    await page.waitForTimeout(SETTLE_MS); // streams and polls never become idle
    await takeViews(page, join(folder, name));
  }
}

async function takeViews(page: Page, path: string): Promise<void> {
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({
        path: `${path}-${width}-${colorScheme}.png`,
        fullPage: !path.endsWith('docs'),
      });
    }
  }
}

async function signIn(page: Page, url: string, token: string): Promise<void> {
  await page.goto(`${url}/admin`);
  await page.getByLabel('Operator token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme: 'light' });
  context.setDefaultTimeout(TIMEOUT_MS);
  return context.newPage();
}

async function save(page: Page, name: string): Promise<void> {
  const path = join(OUTPUT, `${name}.png`);
  const png = palettePng(VIEWPORT.width, VIEWPORT.height, await pixelsOf(page));
  if (png.length > MAX_BYTES) throw new Error(`${path} has ${png.length} bytes, more than ${MAX_BYTES}`);
  writeFileSync(path, png);
  console.log(`${path}: ${png.length} bytes`);
}

/** A second page decodes the picture: the policy of the first refuses pictures from elsewhere. */
async function pixelsOf(page: Page): Promise<Buffer> {
  const picture = (await page.screenshot()).toString('base64');
  const decoder = await page.context().newPage();
  const text = await decoder.evaluate(`(async () => {
    const bytes = await (await fetch('data:image/png;base64,${picture}')).blob();
    const bitmap = await createImageBitmap(bytes);
    const drawing = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    drawing.drawImage(bitmap, 0, 0);
    const { data } = drawing.getImageData(0, 0, bitmap.width, bitmap.height);
    let text = '';
    for (let at = 0; at < data.length; at += 32768)
      text += String.fromCharCode(...data.subarray(at, at + 32768));
    return btoa(text);
  })()`);
  await decoder.close();
  return Buffer.from(String(text), 'base64');
}
