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

/** The same rows as text alone, as high as those of the page. */
const ADD_PLAIN_TABLE = `{
  const plain = document.createElement('table');
  plain.id = 'plain';
  for (const { cells, offsetHeight } of document.querySelectorAll('#transfers tbody tr')) {
    const line = plain.insertRow();
    line.style.height = offsetHeight + 'px';
    for (const { textContent } of cells) line.insertCell().textContent = textContent;
  }
  document.body.append(plain);
}`;

/** Shows the table or all else. */
const showing = (what: 'page' | 'plain') =>
  `for (const { id, style } of document.body.children)
    style.display = (id === 'plain') === ${what === 'plain'} ? '' : 'none'`;

const rowsOf = (page: Page, section: string) => page.locator(`#${section} tbody tr`);

pageTests({
  'a thousand rows scroll with frames that take at most ten times those of a plain table': async (
    t,
    open,
  ) => {
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
    await page.evaluate(ADD_PLAIN_TABLE);
    // Both slow down alike on a busy machine. A frame that is slow because of the page is slow in every turn.
    const [ours, plain]: [number[], number[]] = [[], []];
    const ratio = () => Math.min(...ours) / Math.min(...plain);
    while (ours.length < 3 && !(ratio() < 10)) {
      await page.evaluate(showing('page'));
      ours.push(await scrollDown());
      await page.evaluate(showing('plain'));
      plain.push(await scrollDown());
    }
    assert.ok(
      ratio() < 10,
      `CPU milliseconds of the longest frame by turn: ${ours}; of a plain table: ${plain}`,
    );
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
