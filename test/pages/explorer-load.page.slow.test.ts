/** The explorer with many rows: what a frame costs, and what a page holds. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { Page } from 'playwright-core';
import { PageMeter } from '../../scripts/page-memory.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { waitFor } from '../support/wait.ts';
import { pageTests } from './browser.ts';
import { startWorld, type World } from './explorer-world.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

/** Milliseconds of CPU that the longest frame of the main thread takes while `work` runs. */
async function longestFrame(page: Page, work: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  let longest = 0;
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const { name, tdur = '0' } of value)
      if (name === 'ProxyMain::BeginMainFrame') longest = Math.max(longest, Number(tdur) / 1_000);
  });
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.start', { transferMode: 'ReportEvents', categories: 'cc' });
  await work();
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  assert.ok(longest > 0, 'no frame was drawn');
  return longest;
}

/** Most rows of the live page. */
const LIVE_ROWS = 200;

const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

const rowsOf = (page: Page, section: string) => page.locator(`#${section} tbody tr`);

pageTests({
  'a thousand rows scroll without a frame that takes 100 ms': async (t, open) => {
    const { url, key, pay } = world;
    const wallet = `0x${'7a'.repeat(20)}`;
    const rows = 1_000;
    await pay(wallet, 1, rows);
    const page = await open(t, `${url}/address/${wallet}`, { key });
    for (let shown = 50; shown < rows; shown += 50) {
      await rowsOf(page, 'transfers')
        .nth(shown - 1)
        .waitFor();
      await page.getByRole('button', { name: 'Load more' }).click();
    }
    await rowsOf(page, 'transfers')
      .nth(rows - 1)
      .waitFor();
    await page.mouse.move(400, 400);
    /** Milliseconds of CPU of the longest frame on the way from the first row to the last. */
    const scrollDown = async (): Promise<number> => {
      await page.evaluate('scrollTo(0, 0)');
      await page.evaluate(TWO_FRAMES);
      return longestFrame(page, async () => {
        for (let step = 0; step < 40; step++) {
          await page.mouse.wheel(0, 1_000);
          await page.evaluate(TWO_FRAMES);
        }
        assert.ok(Number(await page.evaluate('scrollY')) > 20_000, 'it did not scroll');
      });
    };
    // A frame that is slow because of the page is slow in every pass; one that other processes slowed down is not.
    const passes: number[] = [];
    while (passes.length < 3 && Math.min(...passes) >= 100) passes.push(await scrollDown());
    assert.ok(Math.min(...passes) < 100, `CPU milliseconds of the longest frame by pass: ${passes}`);
  },

  'a live page whose list is full grows no more': async (t, open) => {
    const { url, key, pay } = world;
    const page = await open(t, `${url}/live?kind=native_direct`, { key });
    await page.getByText('live', { exact: true }).waitFor();
    const wallet = `0x${'7b'.repeat(20)}`;
    const fill = async (transfers: number) => {
      const hash = await pay(wallet, 1, transfers);
      await page.locator(`#live a[href$="${hash}"]`).first().waitFor();
    };
    const meter = await PageMeter.attach(page);
    // The first answer is held too: the API button shows its request.
    const { objects: answered } = await meter.held('txHash');
    /** Waits until a drawing in progress has ended: it holds two lists. */
    const whenSettled = (mostNodes: number) =>
      waitFor(
        async () => {
          const { nodes } = await meter.memory();
          const { objects, largestList } = await meter.held('txHash');
          if (objects > LIVE_ROWS + answered || largestList > LIVE_ROWS + 50 || nodes > mostNodes)
            throw new Error(`${objects} transfers, a list of ${largestList} entries, ${nodes} nodes`);
          return nodes;
        },
        { what: `a page that holds ${LIVE_ROWS} transfers in at most ${mostNodes} nodes` },
      );
    await fill(250);
    const nodes = await whenSettled(Number.POSITIVE_INFINITY);
    for (let i = 0; i < 4; i++) await fill(250);
    await whenSettled(nodes + 100);
    assert.equal(await rowsOf(page, 'live').count(), LIVE_ROWS);
  },
});
