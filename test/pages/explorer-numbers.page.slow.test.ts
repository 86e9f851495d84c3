/** What the explorer shows, against the API, and as the chain moves on. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { z } from 'zod';
import { openKeyStore } from '../../src/access/keys.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { freePort } from '../support/free-port.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
import { pageTests } from './browser.ts';
import { rowsOf, shownRows, type TransferAnswer, textOfUnits } from './explorer-rows.ts';
import { startWorld, type World } from './explorer-world.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

interface HeldToken {
  tokenAddress: string;
  balance: string;
  decimals: number | null;
}

interface Receipt extends HeldToken {
  amount: string;
  tokenId: string | null;
}

/** The first token that a wallet received, and how much it holds of it, by the API. */
async function firstBuy(address: string): Promise<{ bought: Receipt; held: HeldToken | undefined } | null> {
  const { get } = world;
  const { transfers } = await get<{ transfers: (Receipt & { tokenAddress: string | null })[] }>(
    'address_transfers',
    { address, direction: 'in', type: 'erc20,erc721,erc1155', limit: 500 },
  );
  const bought = transfers.at(-1);
  if (bought === undefined) return null;
  const { tokens } = await get<{ tokens: HeldToken[] }>('wallet_tokens', { address, limit: 200 });
  return { bought, held: tokens.find(({ tokenAddress }) => tokenAddress === bought.tokenAddress) };
}

pageTests({
  'with the mouse alone one finds a funder three hops back, its wallets, what they bought first: as the API has it':
    async (t, open) => {
      const { url, key, samples, get } = world;
      const page = await open(t, `${url}/`, { key });
      await page.getByRole('link', { name: 'Third in a chain' }).click();
      await page.getByRole('link', { name: 'Funding', exact: true }).click();
      const { chain } = await get<{ chain: { funder: string; amount: string; txHash: string }[] }>(
        'funding_chain',
        { address: samples.chain[2] ?? '', depth: 10 },
      );
      const hops = page.locator('.funding-chain li:has(.payment)');
      await hops.nth(2).waitFor();
      assert.deepEqual(
        (await shownRows(page, '.funding-chain li:has(.payment)')).map(({ links, figures }) => [
          links,
          figures,
        ]),
        chain.map(({ funder, amount, txHash }) => [
          [`${url}/tx/${txHash}`, `${url}/address/${funder}`],
          [amount],
        ]),
      );
      const funder = chain[2]?.funder ?? '';
      await hops.nth(2).getByRole('link').last().click();
      await page.waitForURL(`${url}/address/${funder}`);

      await page.getByRole('link', { name: 'Funding', exact: true }).click();
      const { recipients } = await get<{ recipients: { address: string; amount: string }[] }>(
        'funding_recipients',
        { address: funder, blocks: 1_000_000, limit: 50 },
      );
      await page.locator('#recipients').getByRole('button', { name: 'What did they buy first?' }).click();
      const holders = rowsOf(page, 'recipients').filter({ has: page.locator('.in', { hasText: 'holds' }) });
      await holders.first().waitFor();
      const shown = await shownRows(page, '#recipients tbody tr');
      assert.equal(shown.length, recipients.length);
      for (const [i, { address, amount }] of recipients.entries()) {
        const { links = [], figures = [], text = '' } = shown[i] ?? {};
        assert.equal(links[0], `${url}/address/${address}`);
        assert.equal(figures[0], amount, address);
        if (text.includes('not looked up')) continue;
        const buy = await firstBuy(address);
        if (buy === null) assert.match(text, /no token/);
        else {
          const { tokenAddress, tokenId, decimals, amount: units } = buy.bought;
          assert.equal(links.at(-1), `${url}/token/${tokenAddress}`);
          assert.equal(figures[1], tokenId ?? textOfUnits(units, decimals), address);
          assert.equal(/holds|sold/.exec(text)?.[0], buy.held === undefined ? 'sold' : 'holds', address);
        }
      }

      const row = holders.first();
      const buyer = (await row.getByRole('link').first().getAttribute('href'))?.split('/').at(-1) ?? '';
      const { bought, held } = (await firstBuy(buyer)) ?? {};
      await row.getByRole('link').first().click();
      await page.waitForURL(`${url}/address/${buyer}`);
      await page.getByRole('link', { name: 'Tokens', exact: true }).last().click();
      const tokenLink = rowsOf(page, 'tokens').locator(`a[href="${url}/token/${bought?.tokenAddress}"]`);
      await tokenLink.waitFor();
      const holding = (await shownRows(page, '#tokens tbody tr')).find(({ links }) =>
        links.includes(`${url}/token/${bought?.tokenAddress}`),
      );
      assert.equal(holding?.figures[0], textOfUnits(held?.balance ?? '', held?.decimals ?? null));
      await tokenLink.click();
      await rowsOf(page, 'holders').first().waitFor();
      const { holders: listed } = await get<{ holders: { address: string; balance: string }[] }>(
        'token_holders',
        { token: bought?.tokenAddress ?? '', limit: 100, include_contracts: 'true' },
      );
      assert.deepEqual(
        (await shownRows(page, '#holders tbody tr')).map(({ links, figures }) => [links[0], figures[0]]),
        listed.map(({ address, balance }) => [
          `${url}/address/${address}`,
          textOfUnits(balance, held?.decimals ?? null),
        ]),
      );
    },

  'the home page counts blocks as the index does, and the live page shows transfers of nothing on request':
    async (t, open) => {
      const { url, key, anvil, contracts, samples, get, reaches } = world;
      const [from] = z.array(z.string()).parse(await anvil.call('eth_accounts'));
      const to = samples.trader.slice(2).padStart(64, '0');
      const data = `0xa9059cbb${to}${'0'.repeat(64)}`;
      const hash = await anvil.call('eth_sendTransaction', [{ from, to: contracts.token, data }]);
      await anvil.call('evm_mine');
      const head = Number(await anvil.call('eth_blockNumber'));
      await reaches(head);
      const page = await open(t, `${url}/`, { key });
      await rowsOf(page, 'blocks').first().waitFor();
      const { blocks } = await get<{ blocks: { blockNumber: number; transferCount: number }[] }>(
        'latest_blocks',
        { limit: 8 },
      );
      assert.equal(blocks[0]?.blockNumber, head);
      const rows = await rowsOf(page, 'blocks').locator('td:last-child').allTextContents();
      assert.deepEqual(
        rows,
        blocks.map(({ transferCount }) => `${transferCount}`),
      );
      for (const { blockNumber, transferCount } of blocks) {
        const { count } = await get<{ count: number }>('block_transfers', { block: blockNumber, limit: 200 });
        assert.equal(count, transferCount, `block ${blockNumber}`);
      }
      await page.goto(`${url}/live`);
      await rowsOf(page, 'live').first().waitFor();
      const ofNothing = page.locator(`#live a[href="${url}/tx/${hash}"]`);
      assert.equal(await ofNothing.count(), 0);
      await page.getByLabel('include transfers of nothing').check();
      await ofNothing.waitFor();
    },

  'contracts and the zero address are called so, and have no labels of behaviour': async (t, open) => {
    const { url, key, samples, contracts } = world;
    const page = await open(t, `${url}/address/${contracts.pool}`, { key });
    for (const [address, kind] of [
      [contracts.pool, 'Contract'],
      [`0x${'0'.repeat(40)}`, 'Zero address'],
    ] as const) {
      await page.goto(`${url}/address/${address}`);
      await page.locator('.title > p').first().getByText(kind).waitFor();
      await page.locator('.facts').first().waitFor();
      assert.equal(await page.locator('.behaviour').count(), 0, kind);
    }
    await page.goto(`${url}/address/${samples.trader}`);
    await page.locator('.behaviour').waitFor();
    await page.route('**/rpc', (route) => route.abort());
    await page.goto(`${url}/address/${contracts.pool}`);
    await page.getByText('The node did not give its balance').waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(await page.locator('.behaviour').count(), 0, 'unknown without the node');
  },

  'a token shows its launch, with a picture that leads to the wallets': async (t, open) => {
    const { url, key, samples, get } = world;
    const page = await open(t, `${url}/token/${samples.bundledToken}?tab=launch`, { key });
    await rowsOf(page, 'launch').first().waitFor();
    const { buyers } = await get<{ buyers: { address: string; counted: boolean }[] }>('token_launch', {
      token: samples.bundledToken,
      limit: 100,
    });
    assert.deepEqual(
      (await shownRows(page, '#launch tbody tr')).map(({ links }) => links[0]),
      buyers.map(({ address }) => `${url}/address/${address}`),
    );
    const sentences = await page.locator('#launch .sentences').textContent();
    assert.match(sentences ?? '', /1 bundle: 4 wallets or more/);
    await page.getByText('5 wallets paid for by one wallet').waitFor();
    const dots = page.locator('.launch-blocks a');
    assert.equal(await dots.count(), buyers.length);
    assert.equal(await page.locator('.holder.uncounted').count(), 1);
    await dots.nth(1).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/address/${buyers[1]?.address}`);
  },

  'a token shows its traders, and each leads to its trades and to where to follow them': async (t, open) => {
    const { url, key, samples, contracts, get } = world;
    const page = await open(t, `${url}/token/${contracts.token}?tab=traders`, { key });
    for (const order of ['profit', 'loss'] as const) {
      if (order === 'loss') await page.getByText('Most loss').click();
      const { traders } = await get<{ traders: { address: string }[] }>('token_traders', {
        token: contracts.token,
        order,
      });
      const wanted = traders.map(({ address }) => `${url}/address/${address}?tab=trades`);
      await waitFor(
        async () => {
          const rows = await shownRows(page, '#traders tbody tr');
          return rows.map(({ links }) => links[0]).join() === wanted.join();
        },
        { what: `the traders by ${order}` },
      );
    }
    await page.locator(`#traders a[href="${url}/address/${samples.swingTrader}?tab=trades"]`).click();
    await page.getByRole('link', { name: 'Webhook', exact: true }).waitFor();
    const hook = await page.getByRole('link', { name: 'Webhook', exact: true }).getAttribute('href');
    const filter = new URL(hook ?? '').searchParams.get('filter') ?? '';
    assert.deepEqual(JSON.parse(filter), { events: ['wallet_trade'], wallets: [samples.swingTrader] });
    await page.getByRole('link', { name: 'Follow live' }).click();
    await page.waitForURL(`${url}/live?wallet=${samples.swingTrader}`);
    await page.getByText('live', { exact: true }).waitFor();
    const hash = await world.pay(samples.swingTrader, 1);
    await page.locator(`#live a[href="${url}/tx/${hash}"]`).waitFor();
  },

  'profits can be counted in another quote, and a token has a curve of them': async (t, open) => {
    const { url, key, samples, contracts, get } = world;
    const page = await open(t, `${url}/address/${samples.trader}?tab=trades`, { key });
    await rowsOf(page, 'profit').first().waitFor();
    await page.getByLabel('Counted in').selectOption(contracts.stable.toLowerCase());
    await page.locator('#profit .facts').getByText('DUSD').first().waitFor();
    await page.getByRole('button', { name: 'the curve of the profit with DEMO' }).click();
    await page.locator('#curve .chart').waitFor();
    const { curve } = await get<{ curve: { realizedProfit: string }[] }>('wallet_profit', {
      address: samples.trader,
      quote: contracts.stable,
      token: contracts.token,
    });
    const slider = page.getByRole('slider', { name: 'Realised profit with DEMO over time' });
    assert.equal(await slider.getAttribute('aria-valuemax'), `${curve.length - 1}`);
    await slider.press('Home');
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /^5 DUSD, /);
    await page.getByRole('button', { name: 'the curve of the profit with DEMO' }).click();
    assert.equal(await page.locator('#curve').count(), 0);
  },

  'the balance of an asset is drawn over a range of time': async (t, open) => {
    const { url, key, samples, contracts, get } = world;
    const page = await open(t, `${url}/address/${samples.trader}?tab=flows`, { key });
    const slider = page.getByRole('slider', { name: 'Balance over time' });
    await slider.waitFor();
    const asked = { address: samples.trader, token: contracts.token, points: 300 };
    const { series } = await get<{ series: object[] }>('balance_history', asked);
    await page.getByLabel('Asset').selectOption(contracts.token.toLowerCase());
    await waitFor(async () => (await slider.getAttribute('aria-valuemax')) === `${series.length - 1}`, {
      what: 'the balances of the token',
    });
    await page.getByText('24 hours').click();
    // One more at the beginning of the range.
    await waitFor(async () => (await slider.getAttribute('aria-valuemax')) === `${series.length}`, {
      what: 'the balances of a day',
    });
    await slider.press('Home');
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /^0, /);
  },

  'a wallet shows its trades and what they brought, as the API does': async (t, open) => {
    const { url, key, samples, get } = world;
    const page = await open(t, `${url}/address/${samples.trader}`, { key });
    await page.getByRole('link', { name: 'Trades', exact: true }).click();
    await rowsOf(page, 'trades').first().waitFor();
    const { trades } = await get<{ trades: { txHash: string; kind: string }[] }>('wallet_trades', {
      address: samples.trader,
    });
    const rows = await page.locator('#trades tbody tr').all();
    const shown = await Promise.all(
      rows.map(async (row) => [
        (await row.getByRole('link').first().getAttribute('href'))?.split('/').at(-1),
        await row.locator('.way').textContent(),
      ]),
    );
    assert.deepEqual(
      shown,
      trades.map(({ txHash, kind }) => [txHash, kind]),
    );
    const { totals } = await get<{ totals: { realizedProfit: string } }>('wallet_profit', {
      address: samples.trader,
    });
    const profit = await page.locator('dt:text-is("Realised profit") + dd').textContent();
    assert.equal(profit, `+${textOfUnits(totals.realizedProfit, 18)} MON`);
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

  'a wallet outlives a restart of the daemon: what arrived meanwhile appears by itself': async (t, open) => {
    const { anvil, pay } = world;
    const port = String(await freePort());
    const flags = { '--node-http': anvil.url, '--node-ws': anvil.wsUrl, '--port': port };
    const dataDir = tempDir(t);
    const first = await startTestDaemon(t, { flags, dataDir });
    const wallet = `0x${'76'.repeat(20)}`;
    await pay(wallet, 1);
    await first.reaches(Number(await anvil.call('eth_blockNumber')));
    const page = await open(t, `${first.url}/address/${wallet}`, { key: first.key });
    await page.getByText('live', { exact: true }).waitFor();
    await first.daemon.close();
    await page.getByText('connection lost, reconnecting').waitFor();
    await pay(wallet, 42);
    await startTestDaemon(t, { flags, dataDir });
    await page.getByText('live', { exact: true }).waitFor();
    const amounts = () => page.locator('#transfers tbody .amount').allInnerTexts();
    await waitFor(async () => (await amounts()).join() === '+42,+1', { what: 'the missed transfer' });
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
