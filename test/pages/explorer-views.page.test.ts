import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Request, Route } from 'playwright-core';
import { TRANSFER } from '../../src/decode/topics.ts';
import { serve } from '../server/serving.ts';
import type { Owner } from '../support/cleanup.ts';
import { address, type NamedBlock, txHash } from '../support/index-fixture.ts';
import { waitFor } from '../support/wait.ts';
import { NARROW, pageTests, recordTexts, textOf, UPRIGHT, WIDE } from './browser.ts';
import {
  ALICE,
  FIRST_PURCHASE,
  fillWorld,
  GOLD,
  NODE_BLOCK,
  nodeWithTransfer,
  PURCHASES,
} from './explorer-world.ts';

const LAST_BLOCK = FIRST_PURCHASE + PURCHASES;

/** Serves the small world; gives addresses of the explorer's views. */
async function world(t: Owner, upstream?: string) {
  const serving = await serve(t, upstream === undefined ? {} : { upstream });
  fillWorld(serving.index);
  return { ...serving, at: (hash: string) => `${serving.server.url}/#/${hash}` };
}

/** `0x123456…abcdef`, as addresses are shown. */
function short(hex: string): string {
  return `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

pageTests({
  'the key is asked for once, kept for the tab and links opened from it, and forgotten on request': async (
    t,
    open,
  ) => {
    const { at, key } = await world(t);
    const page = await open(t, at(''));
    const field = page.getByLabel('API key');
    await field.fill('atlas_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This key is invalid or has been revoked.').waitFor();

    await field.fill(key);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByRole('heading', { name: 'Large transfers' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Large transfers' }).waitFor();
    const files = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v/'))";
    assert.equal(await page.evaluate(`${files}.length > 20`), true);
    const asked = await page.evaluate(`${files}.filter(({ transferSize }) => transferSize > 0).length`);
    assert.equal(asked, 0, 'files that the browser has are asked for again');
    assert.equal((await page.content()).includes(key), false, 'the key stands in the page');

    const view = at(`wallet/${ALICE}`);
    const other = await page.context().newPage();
    await other.goto(view);
    await other.getByLabel('API key').waitFor();
    const opened = page.context().waitForEvent('page');
    await page
      .locator(`#main a[href="#/wallet/${ALICE}"]`)
      .first()
      .click({ modifiers: ['ControlOrMeta'] });
    await (await opened).getByRole('heading', { name: 'Funding chain' }).waitFor();
    assert.equal(await other.getByLabel('API key').count(), 1, 'a tab opened by hand took the key');
    await other.reload();
    await other.getByLabel('API key').waitFor();

    await page.getByRole('button', { name: 'Forget key' }).click();
    await field.waitFor();
    await page.reload();
    await field.waitFor();
  },

  'where the browser allows no storage the key is kept as long as the page': async (t, open) => {
    const { at, key, server } = await world(t);
    const page = await open(t, `${server.url}/healthz`);
    await page.addInitScript(
      "Object.defineProperty(globalThis, 'sessionStorage', { get() { throw new Error('blocked'); } })",
    );
    await page.goto(at(`wallet/${ALICE}`));
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.locator('#summary .facts').waitFor();
  },

  'a link to a view survives the asking for the key': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`wallet/${ALICE}`));
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Funding chain' }).waitFor();
  },

  'searching finds wallets, tokens, transactions and blocks, and says what is none': async (t, open) => {
    const { at, key } = await world(t, await nodeWithTransfer(t));
    const page = await open(t, at(''), { key });
    const search = async (text: string) => {
      await page.getByRole('searchbox').fill(text);
      await page.keyboard.press('Enter');
    };
    await search(`  ${ALICE.toUpperCase().replace('0X', '0x')} `);
    await page.waitForURL(at(`wallet/${ALICE}`));
    await search(GOLD);
    await page.waitForURL(at(`token/${GOLD}`));
    await search(`https://explorer.example/tx/${txHash('trade')}`);
    await page.waitForURL(at(`transaction/${txHash('trade')}`));
    await search(NODE_BLOCK.hash);
    await page.waitForURL(at(`block/${NODE_BLOCK.hash}`));
    await search('1,000');
    await page.waitForURL(at('block/1000'));
    await page.getByText('The node has no such block.').waitFor();
    await search(ALICE.slice(0, -1));
    await page.getByText('It has 39 hexadecimal digits').waitFor();
    await search('vitalik.eth');
    await page.getByText('Names are not looked up.').waitFor();
    await page.goBack();
    await page.getByText('It has 39 hexadecimal digits').waitFor();
  },

  'a wallet shows what the API says of it': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`wallet/${ALICE}`), { key });
    const fact = (name: string) => page.locator(`#summary dt:text-is("${name}") + dd`);
    assert.match(await textOf(fact('Transactions')), /^63$/);
    assert.match(await textOf(fact('Received')), /^100\.5 MON$/);
    assert.match(await textOf(fact('Balance of flows')), /^40\.5 MON/);
    assert.match(await textOf(fact('First funded by')), new RegExp(short(address('dealer'))));
    assert.deepEqual(await page.locator('#summary .label').allInnerTexts(), ['regular']);
  },

  'a wallet without transfers says so in every part': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`wallet/${address('nobody')}`), { key });
    for (const [id, text] of Object.entries({
      summary: 'No transfer of this address is in the index',
      flows: 'There is nothing to draw yet',
      funding: 'No native transfer from another wallet',
      coordinated: 'Nobody funded this wallet',
      recipients: 'It sent no native coin',
      counterparties: 'It has no transfers with another address',
      transfers: 'No transfers match this filter',
    })) {
      await page.locator(`#${id}`).scrollIntoViewIfNeeded();
      await page.locator(`#${id}`).getByText(text).waitFor();
    }
  },

  'the funding chain is drawn from the first funder to the wallet, to be followed by mouse and keyboard':
    async (t, open) => {
      const { at, key } = await world(t);
      const page = await open(t, at(`wallet/${ALICE}/funding`), { key });
      const nodes = page.locator('#funding .node');
      await nodes.last().waitFor();
      assert.deepEqual(
        await nodes.locator('.name').allTextContents(),
        [address('treasury'), address('dealer'), ALICE].map(short),
      );
      const edges = page.locator('#funding .edge .amount');
      assert.deepEqual(await edges.allTextContents(), ['900 MON', '100 MON']);
      assert.equal(await nodes.last().getAttribute('href'), null, 'the wallet itself is no link');

      await nodes.nth(1).click();
      await page.waitForURL(at(`wallet/${address('dealer')}`));
      await page.goBack();
      await page.locator('#funding').scrollIntoViewIfNeeded();
      await nodes.first().focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(at(`wallet/${address('treasury')}`));
    },

  'amounts in the funding chain are whole, however large and wherever it turns': async (t, open) => {
    const { server, key, index } = await serve(t);
    const amounts = [99_999_999n, 1_234_567_890_123n, 1n];
    index.append(
      Array.from({ length: 5 }, (_, n): NamedBlock => {
        const amount = (amounts[n % amounts.length] ?? 1n) * 10n ** 18n + 42n * 10n ** 16n;
        return { [`hop ${n}`]: [{ from: `link ${n}`, to: `link ${n + 1}`, amount }] };
      }),
    );
    for (const viewport of [WIDE, UPRIGHT, NARROW]) {
      const page = await open(t, `${server.url}/#/wallet/${address('link 5')}`, { key, viewport });
      await page.locator('#funding .node').nth(5).waitFor();
      const cut = await page.evaluate(`(() => {
        const box = (element) => element.getBoundingClientRect();
        const whole = box(document.querySelector('#funding .graph'));
        const nodes = [...document.querySelectorAll('#funding .frame')].map(box);
        const isCut = (text) =>
          text.left < whole.left || text.right > whole.right ||
          nodes.some((node) => text.left < node.right && text.right > node.left && text.top < node.bottom && text.bottom > node.top);
        return [...document.querySelectorAll('#funding .edge text')].filter((text) => isCut(box(text))).map((text) => text.textContent);
      })()`);
      assert.deepEqual(cut, [], `${viewport.width} pixels`);
    }
  },

  'coordinated wallets stand around their funder and tell about themselves': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`wallet/${ALICE}/coordinated`), { key });
    const part = page.locator('#coordinated');
    await part.getByText('funded 4 wallets first').waitFor();
    assert.equal(await part.locator('.member').count(), 4);
    assert.equal(await part.locator('.member.here').count(), 1);
    const dave = part.locator(`a[aria-label^="${address('dave')}"]`);
    await dave.focus();
    await part.getByText(`${address('dave')}: 250 MON in block 3`).waitFor();
    await dave.locator('circle').hover();
    await dave.locator('circle').click();
    await page.waitForURL(at(`wallet/${address('dave')}`));
  },

  'transfers are paged, filtered and found again by their address': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`wallet/${ALICE}/transfers`), { key });
    const rows = page.locator('#transfers tbody:not(.live-rows) tr');
    const blocks = async () => (await rows.locator('[data-title=Block]').allInnerTexts()).map(Number);
    const until = (count: number, first: number) =>
      waitFor(async () => (await rows.count()) === count && (await blocks())[0] === first, {
        what: `${count} rows from block ${first} on`,
      });
    await until(25, LAST_BLOCK - 1);
    const newest = await blocks();
    await page.getByRole('link', { name: 'Older' }).click();
    await until(25, LAST_BLOCK - 26);
    await page.getByRole('link', { name: 'Older' }).click();
    await until(12, LAST_BLOCK - 51);
    await page.getByText('These are the oldest.').waitFor();
    const oldest = await blocks();

    await page.reload();
    await until(12, LAST_BLOCK - 51);
    assert.deepEqual(await blocks(), oldest);
    await page.getByRole('link', { name: 'Newest' }).click();
    await until(25, LAST_BLOCK - 1);
    assert.deepEqual(await blocks(), newest);

    await page.locator('#transfers').getByText('In', { exact: true }).click();
    await until(2, 3);
    await page.getByLabel('with internal ones').check();
    await until(3, LAST_BLOCK);
    assert.match(page.url(), /direction=in&internal=true$/);
    assert.deepEqual(
      await rows.locator('td:nth-child(2)').allInnerTexts(),
      Array.from({ length: 3 }, () => '← in'),
    );
  },

  'what changes under the hands of whoever uses the keyboard leaves them where they were': async (
    t,
    open,
  ) => {
    const { at, key, index } = await world(t);
    index.append(
      Array.from({ length: 500 }, (_, n): NamedBlock => {
        return { [`again ${n}`]: [{ from: 'shop', to: 'alice', amount: 1n }] };
      }),
    );
    const page = await open(t, at(`wallet/${ALICE}/transfers`), { key });
    const focused = () => page.evaluate('document.activeElement.value ?? document.activeElement.textContent');
    const transfers = page.locator('#transfers');
    await transfers.getByRole('radio', { name: 'Both' }).focus();
    for (const way of ['in', 'out']) {
      const answered = page.waitForResponse(`**/api/address_transfers*direction=${way}*`);
      await page.keyboard.press('ArrowRight');
      await answered;
      await transfers
        .locator('tbody:not(.live-rows) tr', { hasNotText: way })
        .first()
        .waitFor({ state: 'detached' });
      assert.equal(await focused(), way);
    }
    const older = transfers.getByRole('link', { name: 'Older' });
    await older.focus();
    await page.keyboard.press('Enter');
    await transfers.getByRole('link', { name: 'Newest' }).waitFor();
    assert.equal(await focused(), 'Older');
    await page.keyboard.press('Enter');
    await transfers.getByText('These are the oldest.').waitFor();
    assert.equal(await page.evaluate('document.activeElement.id'), 'transfers', 'the focus was lost');

    const flows = page.locator('#flows');
    await flows.getByRole('button', { name: 'Load older ones' }).focus();
    await page.route('**/api/address_transfers*', (route) => route.abort(), { times: 1 });
    await page.keyboard.press('Enter');
    await flows.getByText('The server cannot be reached.').waitFor();
    await page.keyboard.press('Enter');
    await flows.getByText('all 563 transfers are drawn').waitFor();
    assert.equal(await page.evaluate('document.activeElement.id'), 'flows', 'the focus was lost');
    await flows.getByLabel('Asset').focus();
    await page.keyboard.press('ArrowDown');
    await flows.getByText('700').first().waitFor();
    assert.equal(await focused(), GOLD);
  },

  'a link to a part of a view leads there however much comes above it, until the visitor goes elsewhere':
    async (t, open) => {
      const { at, key } = await world(t);
      const page = await open(t, at(`wallet/${ALICE}/transfers`), { key });
      await page.locator('#transfers tbody:not(.live-rows) tr').first().waitFor();
      await page.locator('#coordinated[data-state=shown]').waitFor();
      const isThere = () =>
        page.evaluate('scrollY > 500 && Math.abs(transfers.getBoundingClientRect().top) < 150');
      await waitFor(isThere, { what: 'the transfers to be in sight' });
      await page.mouse.wheel(0, -5000);
      await page.evaluate("document.querySelector('#flows').style.paddingBottom = '400px'");
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))'); // time to draw it
      assert.equal(await isThere(), false, 'the visitor was taken back');
    },

  'who goes back, or loads the page anew, is where they were': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`wallet/${ALICE}`), { key });
    const row = page.locator('#counterparties tbody tr').first();
    await page.locator('#transfers tbody:not(.live-rows) tr').first().waitFor();
    await row.waitFor();
    await page.mouse.wheel(0, 900);
    const placeOf = async () => Math.round((await row.boundingBox())?.y ?? 0);
    const kept = 'history.state?.part !== undefined && Math.abs(scrollY - 900) < 2';
    await waitFor(() => page.evaluate(kept), { what: 'the place to be kept' });
    const place = await placeOf();
    const isBack = () =>
      waitFor(async () => (await placeOf()) === place, { what: 'the place to be found again' });
    await row
      .getByRole('link')
      .first()
      .evaluate((link: { click(): void }) => link.click());
    await page.getByRole('heading', { level: 1, name: address('shop') }).waitFor();
    assert.equal(await page.evaluate('scrollY'), 0, 'a new view does not begin at its top');
    await page.goBack();
    await isBack();
    await page.reload();
    await isBack();
  },

  'a late page of transfers does not take the place of the one chosen after it': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`wallet/${ALICE}/transfers`), { key });
    const directions = () => page.locator('#transfers td:nth-child(2)').allInnerTexts();
    await waitFor(async () => (await directions()).length === 25, { what: 'the newest page' });
    const held: (() => Promise<void>)[] = [];
    await page.route(
      '**/api/address_transfers*direction=in*',
      (route) => void held.push(() => route.continue()),
    );
    const direction = (name: string) => page.locator('#transfers').getByText(name, { exact: true });
    await direction('In').click();
    const busy = page.locator('#transfers [aria-busy=true]');
    await busy.waitFor();
    const answerLate = await waitFor(() => held.shift(), { what: 'the request to be held' });
    const isLate = (request: Request) => request.url().includes('direction=in');
    const ended = Promise.race([
      page.waitForEvent('requestfinished', isLate),
      page.waitForEvent('requestfailed', isLate),
    ]);
    const answered = page.waitForResponse('**/api/address_transfers*direction=out*');
    await direction('Out').click();
    await answered;
    await answerLate().catch(() => undefined); // the page may have called it off
    await ended;
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))'); // time to draw it
    assert.deepEqual(new Set(await directions()), new Set(['→ out']));
    assert.equal(await busy.count(), 0);
  },

  'the balance of flows is drawn and can be read point by point with the arrow keys': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`wallet/${ALICE}/flows`), { key });
    const part = page.locator('#flows');
    await part.getByText('40.5 MON received and not sent on').waitFor();
    await part.getByText('all 63 transfers are drawn').waitFor();
    await part.locator('.chart svg').focus();
    await page.keyboard.press('ArrowLeft');
    await part.getByText(`block ${LAST_BLOCK}: +0.5, then 40.5 MON`).waitFor();
    await page.keyboard.press('ArrowLeft');
    await part.getByText(`block ${LAST_BLOCK - 1}: −1, then 40 MON`).waitFor();
    await part.getByLabel('Asset').selectOption(GOLD);
    await part.getByText('700').first().waitFor();
  },

  'flows begin at nothing when a transfer came in while they were asked for': async (t, open) => {
    const { at, key, index } = await world(t);
    const page = await open(t, at(''), { key });
    await page.route('**/api/address_transfers*limit=500*', async (route) => {
      index.append([{ late: [{ from: 'shop', to: 'alice', amount: 10n ** 18n }] }]);
      await route.continue();
    });
    await page.goto(at(`wallet/${ALICE}/flows`));
    const part = page.locator('#flows');
    await part.getByText('40.5 MON received and not sent on').waitFor();
    await part.locator('.chart svg').focus();
    await page.keyboard.press('ArrowRight');
    await part.getByText('Before: 0 MON').waitFor();
  },

  'flows of who sent more than was received are told as that, and one transfer as one': async (t, open) => {
    const { at, key, index } = await world(t);
    const treasury = at(`wallet/${address('treasury')}/flows`);
    const page = await open(t, treasury, { key });
    const part = page.locator('#flows');
    await part.getByText('its one transfer is drawn').waitFor();
    await part.getByText('900 MON more sent than received').waitFor();

    index.append([{ 'one more': [{ from: 'treasury', to: 'shop', amount: 10n ** 18n }] }]);
    await page.reload();
    await part.getByText('all 2 transfers are drawn').waitFor();
    await part.getByText('901 MON more sent than received; fees').waitFor();
  },

  'a token shows its holders, its first buyers and what the node says of it': async (t, open) => {
    const { at, key } = await world(t, await nodeWithTransfer(t));
    const page = await open(t, at(`token/${GOLD}`), { key });
    await page.getByText('The largest holder has 70.0 % of all there is.').waitFor();
    const names = (id: string) => page.locator(`#${id} tbody tr .address`).allInnerTexts();
    const holders = [ALICE, address('bob'), address('carol')].map(short);
    assert.deepEqual(await names('holders'), holders);
    await page.locator('#buyers tbody tr').last().waitFor();
    assert.deepEqual(await names('buyers'), holders);
    await page.locator('#activity').scrollIntoViewIfNeeded();
    await page.getByText('1 transfer in the last 100 blocks').waitFor();
    assert.match(await textOf(page.locator('#activity tbody tr')), /42 units/);
  },

  'a transaction shows what the node says of it, and leads to its wallets and its block': async (t, open) => {
    const { at, key } = await world(t, await nodeWithTransfer(t));
    const page = await open(t, at(`transaction/${txHash('trade')}`), { key });
    const fact = (name: string) => page.locator(`#summary dt:text-is("${name}") + dd`);
    assert.equal(await textOf(fact('Status')), 'succeeded');
    assert.equal(await textOf(fact('Value')), '1.5 MON');
    assert.equal(await textOf(fact('From')), short(address('bob')));
    assert.equal(await textOf(fact('Created contract')), short(address('made')));
    const moved = page.locator('#summary tbody tr');
    assert.equal(await moved.count(), 1, 'a log that is no transfer is shown as one');
    assert.match(await textOf(moved), /42 units/);
    assert.equal(await page.locator('#summary .exchange').count(), 4);
    await fact('Block').getByRole('link').click();
    await page.waitForURL(at('block/100'));
    assert.match(await textOf(fact('Time, UTC')), /^2023-11-14 22:13:20/);
    await page.locator('.hashes a').click();
    await page.waitForURL(at(`transaction/${txHash('trade')}`));
    await fact('From').getByRole('link').click();
    await page.waitForURL(at(`wallet/${address('bob')}`));
    await page.locator('#transfers').scrollIntoViewIfNeeded();
    await page.locator('#transfers tbody td:last-child a').first().click();
    await page.getByText('The node has no transaction of this hash.').waitFor();
  },

  'all transactions of a block and all transfers of a transaction can be seen, however many': async (
    t,
    open,
  ) => {
    const { at, key } = await world(t);
    const page = await open(t, at(''), { key });
    const topics = [TRANSFER, ALICE, GOLD].map((topic) => topic.padEnd(66, '0'));
    const log = { address: GOLD, topics, data: `0x${'1'.padStart(64, '0')}`, blockNumber: '0x1' };
    const answers: Record<string, object> = {
      eth_getBlockByNumber: {
        ...{ ...NODE_BLOCK, timestamp: '0x1' },
        transactions: Array.from({ length: 250 }, (_, n) => txHash(String(n))),
      },
      eth_getTransactionByHash: { from: ALICE, to: GOLD, value: '0x0', blockHash: NODE_BLOCK.hash },
      eth_getTransactionReceipt: {
        status: '0x1',
        contractAddress: null,
        logs: Array.from({ length: 205 }, () => log),
      },
    };
    await page.route('**/rpc', (route) =>
      route.fulfill({ json: { result: answers[route.request().postDataJSON().method] ?? null } }),
    );
    await page.goto(at('block/100'));
    await page.getByText('The other 50', { exact: true }).click();
    await waitFor(async () => (await page.locator('.hashes a').count()) === 250, {
      what: 'every transaction',
    });
    await page.goto(at(`transaction/${txHash('many')}`));
    await page.getByText('The other 5', { exact: true }).click();
    await waitFor(async () => (await page.locator('tbody tr').count()) === 205, { what: 'every transfer' });
  },

  'a transaction shows what it moved in the decimals and by the symbol of each token': async (t, open) => {
    const others = Array.from({ length: 9 }, (_, n) => address(`other ${n}`));
    const { at, key, index } = await world(t, await nodeWithTransfer(t, [...others, GOLD]));
    const named = { name: 'Gold', symbol: 'GLD', decimals: 1, tries: 1, retryAt: null };
    index.writer.saveMetadata([{ ...named, address: GOLD }]);
    const page = await open(t, `${new URL(at('')).origin}/healthz`, { key });
    await page.route(`**/api/token_stats?token=${others[0]}`, (route) =>
      route.fulfill({ status: 500, json: {} }),
    );
    await page.goto(at(`transaction/${txHash('trade')}`));
    const cells = (column: number) => page.locator(`#summary tbody td:nth-child(${column})`).allInnerTexts();
    await page.locator('#summary tbody tr').last().waitFor();
    assert.deepEqual(await cells(3), ['4.2', ...others.map(() => '42 units'), '4.2']);
    assert.deepEqual(await cells(4), [`GLD\n${short(GOLD)}`, ...others.map(short), `GLD\n${short(GOLD)}`]);
    const requests = await page.locator('#summary .exchange summary code').allInnerTexts();
    const asked = requests.filter((request) => request.includes('token_stats'));
    assert.equal(asked.length, 7, 'eight tokens at most, one of which the server could not tell of');
    assert.equal(new Set(asked).size, 7, 'a token was asked for twice');
  },

  'a transaction that the node cannot be asked for can be asked for again': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`transaction/${txHash('trade')}`), { key });
    await page.getByText('The node behind this server did not answer.').waitFor();
    await page.getByRole('button', { name: 'Retry' }).waitFor();
  },

  'transactions, blocks and searches can be walked with the keyboard and by their headings': async (
    t,
    open,
  ) => {
    const { at, key } = await world(t, await nodeWithTransfer(t));
    const page = await open(t, at(''), { key });
    const focused = () =>
      page.evaluate(
        'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
      );
    const tabTo = async (name: string) => {
      for (let i = 0; i < 20; i++) {
        await page.keyboard.press('Tab');
        if ((await focused()) === name) return;
      }
      throw new Error(`Tab does not lead to ${name}; it ended at ${await focused()}`);
    };
    const arrivedAt = async (name: string) => {
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await page.locator('#summary[data-state=shown]').waitFor();
      assert.equal(
        await page.evaluate('document.activeElement.id'),
        'main',
        'the focus is not where the view begins',
      );
    };
    const hash = txHash('trade');
    await page.getByRole('searchbox').focus();
    await page.keyboard.type(hash);
    await page.keyboard.press('Enter');
    await arrivedAt(`Transaction ${hash}`);
    await tabTo('Copy the transaction');
    await tabTo('100');
    await page.keyboard.press('Enter');
    await arrivedAt('Block 100');
    await page.getByRole('list', { name: 'Transactions' }).waitFor();
    await tabTo('Copy the block');
    await tabTo(short(hash));
    await page.keyboard.press('Enter');
    await arrivedAt(`Transaction ${hash}`);
  },

  'a search that fails says so under its heading, and is tried again with the keyboard': async (t, open) => {
    const { at, key } = await world(t, await nodeWithTransfer(t));
    const page = await open(t, `${new URL(at('')).origin}/healthz`, { key });
    const fail = (route: Route) => route.fulfill({ status: 500, json: {} });
    await page.route('**/rpc', fail);
    await page.goto(at(`find/${txHash('trade')}`));
    await page.getByRole('alert').getByText('The server met an error of its own.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
    await page.unroute('**/rpc', fail);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(at(`transaction/${txHash('trade')}`));
  },

  'each view shows its request, and the copied line gives the same answer': async (t, open) => {
    const { at, key } = await world(t);
    const page = await open(t, at(`wallet/${ALICE}`), {
      key,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const exchange = page.locator('#summary .exchange').first();
    await exchange.locator('summary').click();
    const shown = await textOf(exchange.locator('.curl code'));
    assert.match(shown, /^curl -s -H 'X-API-Key: atlas_....…' 'http/);
    const hasShown = await recordTexts(page);
    await exchange.getByRole('button', { name: /^Copy/ }).click();
    await hasShown('Copied');
    await page.getByRole('status').getByText('Copied').waitFor();
    const line = await page.evaluate('navigator.clipboard.readText()');
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', String(line)]);
    assert.deepEqual(JSON.parse(stdout), JSON.parse(await textOf(exchange.locator('pre'))));

    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })"); // as on plain HTTP
    const button = page.getByRole('button', { name: 'Copy the address' });
    await button.press('Enter');
    await button.getByText('Copied').waitFor();
    await page.locator('.page-title button:focus').waitFor();
  },
});
