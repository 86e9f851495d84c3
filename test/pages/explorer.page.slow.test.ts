import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { openKeyStore } from '../../src/access/keys.ts';
import { byteSize, grouped, unitsToText } from '../../src/pages/ui/format.ts';
import { serve } from '../server/serving.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { freePort } from '../support/free-port.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
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

interface HeldToken {
  tokenAddress: string;
  balance: string;
  decimals: number | null;
}

interface Receipt extends HeldToken {
  amount: string;
  tokenId: string | null;
}

const shownRowsSchema = z.array(
  z.object({ links: z.array(z.string()), figures: z.array(z.string()), text: z.string() }),
);

/** What rows say: where their links lead, and each amount as a plain number, whole although it is shown short. */
async function shownRows(page: Page, selector: string): Promise<z.output<typeof shownRowsSchema>> {
  return shownRowsSchema.parse(
    await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((row) => ({
      links: [...row.querySelectorAll('a')].map((link) => link.href),
      figures: [...row.querySelectorAll('.amount')].map((amount) =>
        (amount.title || amount.textContent).replace('Token number ', '').split(' ')[0].replaceAll(',', '')),
      text: row.textContent,
    }))`),
  );
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

const textOfUnits = (units: string, decimals: number | null) => unitsToText(BigInt(units), decimals ?? 0);

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
