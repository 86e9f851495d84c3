/** Whether pages that stay open for hours keep their memory. See `--help`. */
import { chromium } from 'playwright-core';
import { chromiumLaunch } from '../chromium.ts';
import { startDemo } from '../demo.ts';
import { readOptions } from '../options.ts';
import { PageMeter } from '../page-memory.ts';

/** Until the lists of a page are full. */
const WARM_UP_MS = 60_000;
const SAMPLE_MS = 60_000;
const MB = 1e6;

const { minutes, most } = readOptions(
  'Leaves the live page, the home page and a wallet open on the demo chain, and fails if one grows by more ' +
    'than --most MB.',
  {
    minutes: {
      kind: 'decimal',
      about: 'in all, after a minute in which the lists fill',
      default: 60,
      range: [1, 1_440],
    },
    most: { kind: 'decimal', about: 'MB that a page may grow', default: 20, range: [0.1, 1_000] },
  },
);

const demo = await startDemo();
const browser = await chromium.launch(chromiumLaunch());
try {
  const context = await browser.newContext();
  await context.addInitScript((key) => sessionStorage.setItem('atlas-api-key', key), demo.key);
  const pages = await Promise.all(
    ['/live', '/', `/address/${demo.wallet}`].map(async (path) => {
      const page = await context.newPage();
      await page.goto(demo.url + path);
      await page.locator('main tbody tr').first().waitFor();
      return { path, meter: await PageMeter.attach(page) };
    }),
  );
  await pause(WARM_UP_MS);
  const first = await sample();
  const end = performance.now() + minutes * 60_000;
  let last = first;
  while (performance.now() < end) {
    await pause(Math.min(SAMPLE_MS, end - performance.now()));
    last = await sample();
  }
  const grown = pages.map(({ path }, i) => ({ path, mb: ((last[i] ?? 0) - (first[i] ?? 0)) / MB }));
  for (const { path, mb } of grown) console.log(`${path} grew by ${mb.toFixed(2)} MB in ${minutes} minutes`);
  process.exitCode = grown.some(({ mb }) => mb > most) ? 1 : 0;

  async function sample(): Promise<number[]> {
    const memory = await Promise.all(pages.map(({ meter }) => meter.memory()));
    const texts = pages.map(
      ({ path }, i) =>
        `${path} ${((memory[i]?.heapBytes ?? 0) / MB).toFixed(2)} MB, ${memory[i]?.nodes} nodes`,
    );
    console.log(texts.join('; '));
    return memory.map(({ heapBytes }) => heapBytes);
  }
} finally {
  await browser.close();
  await demo.close();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
