/** Takes the screenshots of the README from `atlas-node dev`. See `--help`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumLaunch } from './chromium.ts';
import { readOptions, refuse } from './options.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/atlas-node', import.meta.url));
const OUTPUT = fileURLToPath(new URL('../docs/images/', import.meta.url));
const VIEWPORT = { width: 1200, height: 800 };
/** The README stays quick to load. */
const MAX_BYTES = 150_000;
const TIMEOUT_MS = 120_000;

readOptions('Starts a local chain with traffic and takes docs/images/explorer.png and panel.png.', {});

const folder = mkdtempSync(join(tmpdir(), 'atlas-screenshots-'));
const dev = spawn(LAUNCHER, ['dev'], {
  env: { ...process.env, TMPDIR: folder, ATLAS_SERVER__PORT: '0', ATLAS_ADMIN_TOKEN: '' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const exited = once(dev, 'exit');
try {
  const banner = await readBanner();
  const browser = await chromium.launch(chromiumLaunch());
  try {
    mkdirSync(OUTPUT, { recursive: true });
    await takeExplorer(browser, banner);
    await takePanel(browser, banner);
  } finally {
    await browser.close();
  }
} finally {
  dev.kill('SIGINT');
  await exited;
  rmSync(folder, { recursive: true });
}

/** Resolves once the daemon has printed where it listens and with which secrets. */
async function readBanner(): Promise<{ url: string; key: string; token: string; wallet: string }> {
  let text = '';
  for await (const chunk of dev.stdout) {
    text += String(chunk);
    if (!text.includes('Ctrl-C')) continue;
    const find = (pattern: RegExp): string =>
      pattern.exec(text)?.[1] ?? refuse(`the banner has no ${pattern}`);
    return {
      url: find(/explorer {3}(\S+)\//),
      key: find(/key {8}(\S+)/),
      token: find(/operator token (\S+)\)/),
      wallet: find(/"addresses":\[.*"(0x[0-9a-f]{40})"\]/),
    };
  }
  throw new Error(`atlas-node dev ended before it was ready:\n${text}`);
}

async function takeExplorer(browser: Browser, { url, key, wallet }: Awaited<ReturnType<typeof readBanner>>) {
  const page = await openPage(browser);
  await page.addInitScript((text) => sessionStorage.setItem('atlas-api-key', text), key);
  await page.goto(`${url}/address/${wallet}`);
  await page.locator('#transfers tbody tr').first().waitFor();
  await page.waitForLoadState('networkidle');
  await save(page, 'explorer');
}

async function takePanel(browser: Browser, { url, token }: Awaited<ReturnType<typeof readBanner>>) {
  const page = await openPage(browser);
  await page.goto(`${url}/admin?part=index`);
  await page.getByLabel('Operator token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('ERC-1155').first().waitFor(); // the sizes by kind come last
  await save(page, 'panel');
}

async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme: 'light' });
  context.setDefaultTimeout(TIMEOUT_MS);
  return context.newPage();
}

async function save(page: Page, name: string): Promise<void> {
  const path = join(OUTPUT, `${name}.png`);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MAX_BYTES}`);
  console.log(`${path}: ${size} bytes`);
}
