/** Finding one's way through the explorer: keys, lists, search, the network, and what is not there. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { z } from 'zod';
import { byteSize, grouped } from '../../src/pages/ui/format.ts';
import { serve } from '../server/serving.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { waitFor } from '../support/wait.ts';
import { pageTests, textOf } from './browser.ts';
import { rowsOf, type TransferAnswer } from './explorer-rows.ts';
import { startWorld, type World } from './explorer-world.ts';
import { prefixProxy } from './prefix-proxy.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

pageTests({
  'a link with the key in its fragment needs no form, and the address bar does not keep the key': async (
    t,
    open,
  ) => {
    const page = await open(t, `${world.url}/large#key=${world.key}`);
    await page.locator('#large tbody tr').first().waitFor();
    assert.equal(page.url(), `${world.url}/large`);
  },

  'the home page shows the chain at a glance, and leads from an example to a wallet with its label': async (
    t,
    open,
  ) => {
    const { url, key, samples, get } = world;
    const page = await open(t, `${url}/`, { key });
    const indexed = page.locator('dt:text-is("Transfers indexed") + dd');
    const { transfers } = z
      .object({ transfers: z.number() })
      .parse(await (await fetch(`${url}/status`)).json());
    const { indexBytes } = await get<{ indexBytes: number }>('chain_stats');
    await indexed.getByText('on disk').waitFor();
    assert.equal(await textOf(indexed), `${grouped(transfers)}${byteSize(indexBytes)} on disk`);
    await page.getByRole('link', { name: 'Hot wallet' }).click();
    await page.waitForURL(`${url}/address/${samples.hotWallet}`);
    await page.getByRole('heading', { name: 'Demo Exchange' }).waitFor();
    await page.getByText('Wallet: exchange, by demo').waitFor();
    await page.goto(`${url}/address/${samples.trader}`);
    const named = rowsOf(page, 'transfers').locator('[title^="Demo Whale (person, by demo): 0x"]');
    await named.first().waitFor();
  },

  'where the operator allows it, visitors need no key and never see the one that the server uses': async (
    t,
    open,
  ) => {
    const { server, access, index, key } = await serve(t, { settings: { public_explorer: true } });
    index.append([{}]);
    const { record, key: secret } = access.keys.create({ name: 'visitors', tier: 'free' });
    access.keys.publicKeyId = record.id;
    const page = await open(t, `${server.url}/address/0x${'11'.repeat(20)}`);
    await page.getByText('The index contains no transfers of this address').waitFor();
    assert.ok(access.usage.used(record.id, Date.now()) > 0, 'the requests count against that key');
    assert.equal((await page.content()).includes(secret.slice(6)), false);
    assert.equal(await page.evaluate('JSON.stringify(sessionStorage)'), '{}');
    await page.getByRole('button', { name: 'Use a key' }).click();
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Forget key' }).click();
    await page.getByRole('button', { name: 'Use a key' }).waitFor();
    access.keys.revoke(record.id);
    await page.reload();
    await page.getByText('This key is invalid or has been revoked.').waitFor();
  },

  'a visitor below a proxy gives a key, filters, follows a link and goes back': async (t, open) => {
    const { url, key, samples, get } = world;
    const base = await prefixProxy(t, url, '/deep/atlas');
    const page = await open(t, `${base}/address/${samples.trader}`);
    await page.getByLabel('API key').fill('atlas_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This key is invalid or has been revoked.').waitFor();
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await rowsOf(page, 'transfers').first().waitFor();
    await page.getByText('In', { exact: true }).click();
    await page.waitForURL(/direction=in/);
    const { transfers } = await get<TransferAnswer>('address_transfers', {
      address: samples.trader,
      direction: 'in',
      include_internal: 'true',
      limit: 50,
    });
    await waitFor(async () => (await rowsOf(page, 'transfers').count()) === transfers.length, {
      what: 'only incoming transfers',
    });
    await rowsOf(page, 'transfers').first().locator('a[href*="/tx/"]').click();
    await page.waitForURL(`${base}/tx/${transfers[0]?.txHash}`);
    await page.getByText('succeeded').waitFor();
    await page.goBack();
    await page.waitForURL(/direction=in/);
    await rowsOf(page, 'transfers').first().waitFor();
    assert.equal(await textOf(page.locator('h1')), 'Demo Trader');
    assert.match(await textOf(page.locator('.title')), new RegExp(samples.trader));
  },

  'a long list is loaded page by page, and a filter of a token is a link': async (t, open) => {
    const { url, key, samples, get, pay } = world;
    const wallet = `0x${'79'.repeat(20)}`;
    await pay(wallet, 1, 120);
    const page = await open(t, `${url}/address/${wallet}`, { key });
    await rowsOf(page, 'transfers').nth(49).waitFor();
    for (const count of [100, 120]) {
      await page.getByRole('button', { name: 'Load more' }).click();
      await waitFor(async () => (await rowsOf(page, 'transfers').count()) === count, {
        what: `${count} rows`,
      });
    }
    assert.equal(await page.getByRole('button', { name: 'Load more' }).count(), 0);
    await page.goto(`${url}/address/${samples.trader}?tab=tokens`);
    await rowsOf(page, 'tokens').filter({ hasText: 'Demo Token' }).getByRole('link').last().click();
    await page.waitForURL(/token=0x/);
    const { count } = await get<{ count: number }>('address_transfers', {
      address: samples.trader,
      token: samples.token,
    });
    await waitFor(async () => (await rowsOf(page, 'transfers').count()) === count, { what: 'its transfers' });
  },

  'a list goes on to its end, and its CSV is the whole list of the API': async (t, open) => {
    const { url, key, samples, get } = world;
    const page = await open(t, `${url}/address/${samples.hotWallet}?tab=counterparties`, { key });
    await rowsOf(page, 'counterparties').first().waitFor();
    const { counterparties } = await get<{ counterparties: { address: string }[] }>('wallet_counterparties', {
      address: samples.hotWallet,
      limit: 200,
    });
    const more = page.locator('#counterparties').getByRole('button', { name: 'Load more' });
    if (counterparties.length > 100) await more.click();
    await waitFor(async () => (await rowsOf(page, 'counterparties').count()) === counterparties.length, {
      what: 'all counterparties',
    });
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('#counterparties').getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    assert.equal(file.suggestedFilename(), 'wallet_counterparties.csv');
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(Buffer.from(chunk));
    const [header = '', ...lines] = Buffer.concat(chunks).toString().trim().split('\r\n');
    assert.ok(header.startsWith('address,'), header);
    assert.deepEqual(
      lines.map((line) => line.split(',')[0]),
      counterparties.map(({ address }) => address),
    );
  },

  'the network grows with clicks and keys, and is saved as a table and an image': async (t, open) => {
    const { url, key, samples } = world;
    const page = await open(t, `${url}/address/${samples.chain[1]}?tab=network`, { key });
    const nodes = page.locator('.node');
    await nodes.first().waitFor();
    const before = await nodes.count();
    await page.locator(`.node[data-address="${samples.chain[1]}"]`).focus();
    await page
      .locator('.tip')
      .getByText(samples.chain[1]?.slice(0, 8) ?? '')
      .waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.tip').waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowRight');
    const walked = await page.evaluate('document.activeElement.dataset.address');
    assert.match(String(walked), /^0x[0-9a-f]{40}$/);
    await page
      .locator(`.node[data-address="${samples.hotWallet}"], .node[data-address="${samples.chain[0]}"]`)
      .first()
      .focus();
    await page.keyboard.press('Enter');
    await waitFor(async () => (await nodes.count()) > before, { what: 'more addresses in the graph' });
    await page.waitForURL(/open=[0-9a-f]{40}frc/);
    assert.ok((await page.locator('.network .sum').count()) > 0, 'no amounts on the links');
    const grown = await page
      .locator('.node')
      .evaluateAll((all) => all.map((node) => node.getAttribute('data-address')));
    const again = await open(t, page.url(), { key });
    await again
      .locator('.node')
      .nth(grown.length - 1)
      .waitFor();
    assert.deepEqual(
      await again.locator('.node').evaluateAll((all) => all.map((node) => node.getAttribute('data-address'))),
      grown,
    );
    await again.close();
    await nodes.last().hover();
    await page.locator('.tip').waitFor();
    const centre = page.locator(`.node[data-address="${samples.hotWallet}"] text`);
    assert.equal(await centre.textContent(), 'Demo Exchange');
    for (const [name, signature] of [
      ['CSV', 'from,from_label'],
      ['PNG', '\x89PNG'],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ]);
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(Buffer.from(chunk));
      assert.ok(Buffer.concat(chunks).toString('latin1').startsWith(signature), name);
    }
  },

  'a search suggests tokens by name, opens what was pasted, and remembers it': async (t, open) => {
    const { url, key, samples } = world;
    const page = await open(t, `${url}/tokens`, { key });
    await rowsOf(page, 'tokens').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('Demo Tok');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/token/${samples.token}`);
    await page.getByRole('heading', { name: 'Demo Token (DEMO)' }).waitFor();

    await page
      .getByLabel('Search')
      .fill(`https://explorer.example/address/${samples.trader.toUpperCase().replace('0X', '0x')}#x`);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/address/${samples.trader}`);
    await page.getByLabel('Search').focus();
    assert.equal(await page.locator('#suggestions [role=option]').count(), 2);
    await page.getByLabel('Search').fill('7');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/block/7`);
    await page.getByRole('link', { name: '8', exact: true }).click();
    await page.waitForURL(`${url}/block/8`);
    await page.getByLabel('Search').fill('no such thing');
    await page.keyboard.press('Enter');
    await page.getByText('No results for').waitFor();

    const short = `${samples.trader.slice(0, 8)}…${samples.trader.slice(-6)}`;
    for (const [typed, path] of [
      ['#7', '/block/7'],
      ['block 8', '/block/8'],
      ['https://explorer.example/block/9?tab=x', '/block/9'],
      [` "${short}" `, `/address/${samples.trader}`],
      ['swing demo', `/address/${samples.swingTrader}`],
    ] as const) {
      await page.locator('[type=search]').fill(typed);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${url}${path}`);
    }
    for (const [typed, sentence] of [
      ['block 99,999', /^Block 99999 is beyond the last indexed block \d+\.$/],
      ['somebody.eth', /^somebody\.eth is a name of a naming service/i],
    ] as const) {
      await page.locator('[type=search]').fill(typed);
      await page.keyboard.press('Enter');
      await page.getByText(sentence).waitFor();
    }
  },

  'what the node does not have is said at once, and the page stops asking for it': async (t, open) => {
    const { url, key, anvil } = world;
    const page = await open(t, `${url}/`, { key });
    const unknownHash = `0x${'ab'.repeat(32)}`;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    for (const [path, title] of [
      ['/block/99999999', 'Block 99,999,999'],
      [`/block/${unknownHash}`, `Block ${unknownHash}`],
      [`/block/99999999?tab=transfers`, 'Block 99,999,999'],
      [`/tx/${unknownHash}`, `Transaction ${unknownHash}`],
    ] as const) {
      await page.goto(url + path);
      await page.getByText(/^The node does not have this (?:block|transaction)\./).waitFor();
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      assert.match(await textOf(page.locator('main')), new RegExp(title.replace(' ', '\\s*')));
      assert.equal(await page.locator('#transactions, #transfers, .tabs, [role=alert]').count(), 0, path);
    }
    await page.clock.install();
    await page.goto(`${url}/block/99999999`);
    await page.getByText(/^The node does not have this block\./).waitFor();
    asked.length = 0;
    await page.clock.runFor(20_000);
    await waitFor(() => asked.filter((path) => path === '/status').length > 1, { what: 'time to pass' });
    assert.deepEqual([...new Set(asked)], ['/status']);

    const head = Number(await anvil.call('eth_blockNumber'));
    await page.goto(`${url}/block/${head + 1}`);
    await page.getByText(/^The node does not have this block\./).waitFor();
    await anvil.call('evm_mine');
    await page.locator(`.title a[href="${url}/block/${head}"]`).click();
    await page.getByRole('link', { name: grouped(head + 1), exact: true }).click();
    await page.locator('#summary dt:text-is("Hash")').waitFor();
    await page.getByText('No transactions.').waitFor();
  },

  'fields that a node leaves out or sets to null do not stop a page': async (t, open) => {
    const { url, key } = world;
    const page = await open(t, `${url}/`, { key });
    const hash = `0x${'cd'.repeat(32)}`;
    const from = `0x${'1'.repeat(40)}`;
    const transaction = { hash, blockHash: hash, from, value: '0x1', input: null, gas: null };
    const log = {
      address: from,
      name: null,
      signature: null,
      args: null,
      topics: [],
      data: '0x',
      dataBytes: 0,
    };
    const decoded = {
      txHash: hash,
      status: 'unknown',
      ...{ blockNumber: 3, blockHash: hash, timestamp: null, from: null, to: null, createdContract: null },
      ...{ value: null, valueWei: null, fee: null, feeWei: null, gasUsed: null, gasLimit: null },
      ...{ gasPriceWei: null, maxFeePerGasWei: null, maxPriorityFeePerGasWei: null, nonce: null, type: null },
      ...{ method: null, input: '0x', inputBytes: 0, events: [{ ...log, logIndex: null }], eventCount: 1 },
      ...{ failure: null, trades: null, tradesReason: 'its block is not indexed' },
    };
    const block = {
      number: '0x3',
      hash,
      parentHash: hash,
      timestamp: '0x1',
      transactions: [transaction],
      ...{ miner: null, gasUsed: null, gasLimit: null, baseFeePerGas: null, size: null },
    };
    const results: Record<string, unknown> = {
      eth_getBlockByNumber: block,
      eth_getBlockByHash: { ...block, transactions: null },
    };
    await page.route('**/rpc', (route) => {
      const { method } = z.object({ method: z.string() }).parse(route.request().postDataJSON());
      return route.fulfill({ json: { jsonrpc: '2.0', id: 1, result: results[method] } });
    });
    await page.route('**/api/transaction?*', (route) => route.fulfill({ json: decoded }));
    await page.goto(`${url}/block/3`);
    await rowsOf(page, 'transactions').getByText('new contract').waitFor();
    await page.goto(`${url}/block/${hash}`);
    await page.getByText('No transactions.').waitFor();
    await rowsOf(page, 'transactions').first().waitFor({ state: 'detached' });
    await page.goto(`${url}/tx/${hash}`);
    await page.getByText('anonymous').waitFor();
    await page.locator('#summary').getByText('in a block').waitFor();
  },

  'a wallet is printed without what only a screen can use, in ink on white, and nothing moves': async (
    t,
    open,
  ) => {
    const { url, key, samples } = world;
    const page = await open(t, `${url}/address/${samples.trader}`, { key, reducedMotion: 'reduce' });
    await rowsOf(page, 'transfers').first().waitFor();
    assert.equal(await page.evaluate('document.getAnimations().length'), 0);
    await page.setViewportSize({ width: 794, height: 1_123 }); // A4
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const name of ['.top', '.tabs', '.controls', '.quiet', '.copy'])
      assert.equal(await page.locator(`${name}:visible`).count(), 0, name);
    assert.equal(await page.locator('.title').getByText(samples.trader).isVisible(), true);
    assert.equal(await page.locator('.facts > div:visible, .answers > section:visible').count(), 8);
    assert.equal(await rowsOf(page, 'transfers').first().isVisible(), true);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
    const [paper, ink] = ['backgroundColor', 'color'].map(
      (name) => `getComputedStyle(document.documentElement).${name}`,
    );
    assert.equal(await page.evaluate(String(paper)), 'rgb(250, 250, 247)');
    assert.equal(await page.evaluate(String(ink)), 'rgb(25, 28, 31)');
  },
});
