import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { openKeyStore } from '../../src/access/keys.ts';
import { byteSize, grouped } from '../../src/pages/ui/format.ts';
import { serve } from '../server/serving.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { waitFor } from '../support/wait.ts';
import { assertAccessible } from './accessible.ts';
import { pageTests, textOf } from './browser.ts';
import { startWorld, type World } from './explorer-world.ts';
import { prefixProxy } from './prefix-proxy.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

interface TransferAnswer {
  transfers: { txHash: string; from: string; to: string; transferType: string }[];
}

const rowsOf = (page: Page, section: string) => page.locator(`#${section} tbody tr`);

pageTests({
  'a link with the key in its fragment needs no form, and the address bar does not keep the key': async (
    t,
    open,
  ) => {
    const page = await open(t, `${world.url}/large#key=${world.key}`);
    await page.locator('#large tbody tr').first().waitFor();
    assert.equal(page.url(), `${world.url}/large`);
  },

  'every page is accessible, at three widths and in both themes': async (t, open) => {
    const { url, key, samples, get } = world;
    const { trader, token, chain, cohort } = samples;
    const { transfers } = await get<TransferAnswer>('address_transfers', { address: trader });
    const page = await open(t, `${url}/`);
    await page.getByLabel('API key').waitFor();
    await assertAccessible(page, 'the first visit');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    const places: [path: string, shown: string][] = [
      ['/', '#wallets tbody tr'],
      [`/address/${chain[0]}`, '#transfers tbody tr'],
      [`/address/${trader}?tab=tokens`, '#tokens tbody tr'],
      [`/address/${trader}?tab=flows`, '.chart'],
      [`/address/${chain.at(-1)}?tab=funding`, '.funding-chain'],
      [`/address/${chain[0]}?tab=network`, '.node'],
      [`/address/${chain[0]}?tab=counterparties`, '#counterparties tbody tr'],
      [`/token/${token}`, '#holders tbody tr'],
      [`/token/${token}?tab=transfers`, '#transfers tbody tr'],
      [`/token/${token}?tab=buyers`, '#buyers tbody tr'],
      [`/tx/${transfers[0]?.txHash}`, '#logs table'],
      ['/block/3', '#transactions tbody tr'],
      ['/search?q=demo', '.results li'],
      ['/tokens', '#tokens tbody tr'],
      ['/large', '#large tbody tr'],
      ['/live?kind=erc1155', '#live h1'],
      [`/address/${cohort[0]?.replace(/^0x../, '0x00')}`, 'main > .notice'],
      ['/nothing/here', '.intro'],
    ];
    for (const [path, shown] of places) {
      await page.goto(url + path);
      await page.locator(shown).first().waitFor();
      await assertAccessible(page, path);
    }
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
    await page.getByText('Demo Exchange exchange, by demo').waitFor();
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
    await page.locator('main > .notice').waitFor();
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
    assert.match(await textOf(page.locator('h1')), new RegExp(samples.trader));
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

  'with the mouse alone one finds a funder three hops back, its other wallets, and what they bought first':
    async (t, open) => {
      const { url, key, samples, get } = world;
      const page = await open(t, `${url}/address/${samples.chain[2]}`, { key });
      await page.getByRole('link', { name: 'Funding', exact: true }).click();
      const hop = page.locator('.funding-chain li').nth(3).getByRole('link').last();
      const { chain } = await get<{ chain: { funder: string }[] }>('funding_chain', {
        address: samples.chain[2] ?? '',
      });
      const funder = chain[2]?.funder ?? '';
      assert.equal(await hop.getAttribute('href'), `${url}/address/${funder}`);
      await hop.click();
      await page.waitForURL(`${url}/address/${funder}`);
      await page.getByRole('link', { name: 'Funding', exact: true }).click();
      await page.getByRole('button', { name: 'What did they buy first?' }).click();
      const buyer = rowsOf(page, 'recipients')
        .filter({ has: page.locator('.in', { hasText: 'holds' }) })
        .first();
      await buyer.waitFor();
      const wallet = (await buyer.getByRole('link').first().getAttribute('href'))?.split('/').at(-1) ?? '';
      const { transfers } = await get<{ transfers: { tokenAddress: string | null }[] }>('address_transfers', {
        address: wallet,
        direction: 'in',
        limit: 500,
      });
      const bought = transfers.filter(({ tokenAddress }) => tokenAddress !== null).at(-1)?.tokenAddress ?? '';
      assert.equal(await buyer.locator('.token a').getAttribute('href'), `${url}/token/${bought}`);
      await buyer.getByRole('link').first().click();
      await page.getByRole('link', { name: 'Tokens', exact: true }).last().click();
      const held = rowsOf(page, 'tokens').locator(`a[href="${url}/token/${bought}"]`);
      await held.click();
      await page.locator('#holders').waitFor();
    },

  'the network grows with clicks and keys, and is saved as a table and an image': async (t, open) => {
    const { url, key, samples } = world;
    const page = await open(t, `${url}/address/${samples.chain[1]}?tab=network`, { key });
    const nodes = page.locator('.node');
    await nodes.first().waitFor();
    const before = await nodes.count();
    await page.locator(`.node[data-address="${samples.chain[1]}"]`).focus();
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
    await nodes.last().hover();
    await page.locator('.tip').waitFor();
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
  },

  'a transaction shows all of its transfers, as returned by the API': async (t, open) => {
    const { url, key, samples, get } = world;
    const { transfers } = await get<TransferAnswer>('address_transfers', {
      address: samples.payee,
      include_internal: 'true',
    });
    const tx = transfers[0]?.txHash ?? '';
    const page = await open(t, `${url}/tx/${tx}`, { key });
    const moved = await get<TransferAnswer>('transaction_transfers', { tx });
    await rowsOf(page, 'transfers').first().waitFor();
    assert.equal(await rowsOf(page, 'transfers').count(), moved.transfers.length);
    assert.ok(moved.transfers.some(({ transferType }) => transferType === 'native_internal'));
    await page.locator('.flow .arrow.internal').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'API' }).nth(1).click();
    await page.getByText(`GET /api/transaction_transfers?tx=${tx}`).click();
    await page.getByText(`curl -H "X-API-Key: $ATLAS_KEY"`).waitFor();
  },

  'a wallet follows the chain: a transfer arrives, a reorg removes it, a revoked key ends the stream': async (
    t,
    open,
  ) => {
    const { url, dataDir, anvil, pay } = world;
    const store = openKeyStore(`${dataDir}/keys.db`);
    t.after(() => store.close());
    const { key, record } = store.create({ name: 'visitor', tier: 'unlimited' });
    const wallet = `0x${'77'.repeat(20)}`;
    await pay(wallet, 1);
    const page = await open(t, `${url}/address/${wallet}`, { key });
    await page.getByText('live', { exact: true }).waitFor();
    const amounts = () => page.locator('#transfers tbody .amount').allInnerTexts();
    assert.deepEqual(await amounts(), ['+1']);
    await pay(wallet, 42);
    await waitFor(async () => (await amounts()).join() === '+42,+1', { what: 'the new transfer' });
    await anvil.call('anvil_reorg', [1, []]);
    await anvil.call('evm_mine');
    await waitFor(async () => (await amounts()).join() === '+1', {
      what: 'the page without what was taken back',
    });
    store.revoke(record.id);
    await page.getByText('This key is invalid or has been revoked.').waitFor();
  },

  'live transfers arrive, are held while paused, and the time switch is remembered': async (t, open) => {
    const { url, key, pay } = world;
    const page = await open(t, `${url}/live`, { key });
    await page.getByText('live', { exact: true }).waitFor();
    await rowsOf(page, 'live').first().waitFor();
    const hash = await pay(`0x${'78'.repeat(20)}`, 3);
    await page.locator(`#live a[href$="${hash}"]`).first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    const paused = await pay(`0x${'78'.repeat(20)}`, 4);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator(`#live a[href$="${paused}"]`).first().waitFor();
    await page.getByRole('button', { name: 'Age' }).click();
    await page
      .locator('#live time', { hasText: /^\d{4}-\d\d-\d\d / })
      .first()
      .waitFor();
    await page.goto(`${url}/large`);
    await page
      .locator('#large time', { hasText: /^\d{4}-\d\d-\d\d / })
      .first()
      .waitFor();
  },
});
