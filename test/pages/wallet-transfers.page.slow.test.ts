/** What a wallet's page asks for, how its transfers are chosen, and which it hides. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { Page } from 'playwright-core';
import { receiptOf } from '../support/chain/receipt.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { assertAccessible } from './accessible.ts';
import { pageTests, textOf } from './browser.ts';
import { startWorld, type World } from './explorer-world.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

const answer = (page: Page, title: string) => page.locator('.answers').getByRole('region', { name: title });

/** Deploys a contract of one byte that receives a coin at its creation. */
async function deployPaid(): Promise<{ contract: string; creator: string; hash: string }> {
  const { anvil } = world;
  const [creator = ''] = (await anvil.call('eth_accounts')) as string[];
  const data = '0x6001600c60003960016000f300';
  const hash = String(await anvil.call('eth_sendTransaction', [{ from: creator, data, value: '0x1' }]));
  await anvil.call('evm_mine');
  const { contractAddress } = await receiptOf(anvil, hash);
  await world.reaches(Number(await anvil.call('eth_blockNumber')));
  return { contract: contractAddress ?? assert.fail(), creator, hash };
}

pageTests({
  'a contract names its creator and the transaction, where its first transfer tells': async (t, open) => {
    const { url, key, contracts } = world;
    const { contract, creator, hash } = await deployPaid();
    const page = await open(t, `${url}/address/${contract}`, { key });
    const created = page.locator('.title > p', { hasText: 'Created by' });
    await created.waitFor();
    const links = await created.getByRole('link').all();
    assert.deepEqual(
      await Promise.all(links.map(async (link) => new URL((await link.getAttribute('href')) ?? '').pathname)),
      [`/address/${creator}`, `/tx/${hash}`],
    );
    await page.goto(`${url}/address/${contracts.pool}`);
    await answer(page, 'Whom it deals with').getByRole('listitem').first().waitFor();
    await page.waitForLoadState('networkidle');
    assert.equal(await created.count(), 0);
  },

  'a first sight of a wallet takes five requests': async (t, open) => {
    const { url, key, samples } = world;
    const page = await open(t, `${url}/tokens`, { key });
    await page.locator('#tokens tbody tr').first().waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${url}/address/${samples.swingTrader}`);
    await answer(page, 'Whom it deals with').getByRole('listitem').first().waitFor();
    await page.locator('#transfers tbody tr').first().waitFor();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(asked.filter((path) => path.startsWith('/api/') || path === '/rpc').sort(), [
      '/api/address_transfers',
      '/api/wallet_counterparties',
      '/api/wallet_profit',
      '/api/wallets/batch',
      '/rpc',
    ]);
  },

  'transfers made to be mistaken are hidden behind a count that shows them; what the wallet sent is not':
    async (t, open) => {
      const { url, key, anvil, contracts, pay, reaches } = world;
      const [rich = '', stranger = ''] = ((await anvil.call('eth_accounts')) as string[]).slice(0, 2);
      const wallet = `0x${'5a'.repeat(20)}`;
      const friend = `0x${'6b'.repeat(20)}`;
      const fake = `${friend.slice(0, 8)}${'0'.repeat(28)}${friend.slice(-6)}`;
      await pay(wallet, 10);
      for (const account of [wallet, fake]) await anvil.call('anvil_impersonateAccount', [account]);
      await anvil.call('anvil_setBalance', [fake, '0xde0b6b3a7640000']);
      const word = (digits: string) => digits.replace('0x', '').padStart(64, '0');
      const transferNothing = (from: string, to: string) => `0x23b872dd${word(from)}${word(to)}${word('0')}`;
      const token = contracts.token;
      for (const transaction of [
        { from: wallet, to: friend, value: '0xde0b6b3a7640000' },
        { from: stranger, to: token, data: transferNothing(wallet, fake) },
        { from: fake, to: wallet, value: '0x1' },
        { from: wallet, to: token, data: transferNothing(wallet, rich) },
      ]) {
        await anvil.call('eth_sendTransaction', [{ ...transaction, gas: '0x30d40' }]);
        await anvil.call('evm_mine');
      }
      await reaches(Number(await anvil.call('eth_blockNumber')));
      const page = await open(t, `${url}/address/${wallet}`, { key });
      const rows = page.locator('#transfers tbody tr');
      await page.getByText('2 suspicious transfers hidden').waitFor();
      assert.equal(await rows.count(), 3);
      const notes = () => page.locator('#transfers .suspicion').allTextContents();
      const short = (address: string) => `another, ${address.slice(0, 12)}…${address.slice(-8)}`;
      const caution = `Caution: its address looks like ${short(fake)}`;
      assert.deepEqual(await notes(), [caution]);
      const looks = `its address looks like ${short(friend)}`;
      const parties = answer(page, 'Whom it deals with');
      const listed = parties.locator(`li:has(a[href$="/address/${fake}"])`);
      assert.ok((await textOf(listed)).endsWith(`Caution: ${looks}`));
      await page.getByRole('button', { name: 'show', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/suspicious=1/);
      await page.getByText('2 suspicious transfers shown').waitFor();
      assert.equal(await rows.count(), 5);
      assert.deepEqual(await notes(), [
        `Suspicious: ${looks}`,
        `Suspicious: moves nothing, not sent by the wallet; ${looks}`,
        caution,
      ]);
      await assertAccessible(page, 'suspicious transfers');
      await page.goto(`${url}/address/${wallet}?tab=counterparties`);
      await page.locator('#counterparties .suspicion').last().waitFor();
      const marked = await page.locator('#counterparties .suspicion').allTextContents();
      assert.deepEqual(marked.sort(), [caution, `Caution: ${looks}`].sort());
      await page.route('**/rpc', (route) => route.abort());
      await page.goto(`${url}/address/${wallet}`);
      await rows.nth(4).waitFor();
      assert.equal(await page.getByText('suspicious transfers').count(), 0);
      assert.match((await notes()).join(), /Caution: moves nothing/);
      await page.unroute('**/rpc');
      await page.route('**/rpc', () => undefined); // a node that never answers
      await page.route('**/api/wallets/batch', (route) => route.abort());
      await page.goto(`${url}/address/${wallet}`);
      await rows.nth(4).waitFor();
    },

  'transfers are chosen by spans of time and by dates': async (t, open) => {
    const { url, key, samples } = world;
    const page = await open(t, `${url}/address/${samples.trader}`, { key });
    await page.locator('#transfers tbody tr').first().waitFor();
    const asked = page.waitForRequest(/address_transfers.*since=/);
    await page.getByText('7 d', { exact: true }).click();
    await page.waitForURL(/range=7d/);
    const since = Number(new URL((await asked).url()).searchParams.get('since'));
    assert.ok(Math.abs(Date.now() / 1000 - 7 * 86_400 - since) < 300, `${since}`);
    await page.getByText('Dates', { exact: true }).click();
    await page.getByLabel('To, UTC').fill('2001-01-01');
    await page.waitForURL(/until=2001-01-01/);
    await page.getByText('No transfers match this filter.').waitFor();
    assert.equal(await page.getByRole('radio', { name: 'Dates' }).isChecked(), true);
    await page.getByText('All time').click();
    await page.locator('#transfers tbody tr').first().waitFor();
    assert.equal(new URL(page.url()).search, '');
  },

  'a transfer of an NFT leads to its owner and history, and a number finds another one': async (t, open) => {
    const { url, key, samples, contracts, get } = world;
    interface Moved {
      transfers: { tokenId: string; from: string; to: string; txHash: string; amount: string }[];
    }
    const { transfers } = await get<Moved>('token_transfers', { token: samples.nft });
    const { tokenId, to } = transfers.find((row) => row.to !== `0x${'0'.repeat(40)}`) ?? assert.fail();
    const history = transfers.filter((row) => row.tokenId === tokenId);
    const page = await open(t, `${url}/address/${to}?kind=erc721`, { key });
    await page.locator(`a[href$="/token/${samples.nft}?id=${tokenId}"]`).first().click();
    const owner = page.locator('dt:text-is("Owner") + dd');
    await owner.waitFor();
    assert.ok(
      (await owner.getByRole('link').first().getAttribute('href'))?.endsWith(`/address/${history[0]?.to}`),
    );
    await page.locator('#transfers tbody tr').first().waitFor();
    assert.equal(await page.locator('#transfers tbody tr').count(), history.length);
    await assertAccessible(page, 'an NFT');

    const burned = transfers.find((row) => row.to === `0x${'0'.repeat(40)}`) ?? assert.fail();
    await page.getByRole('link', { name: 'All tokens of the contract' }).click();
    await page.getByLabel('Token number').fill('x');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Token number').fill(burned.tokenId);
    await page.keyboard.press('Enter');
    await page.getByText('nobody: it was burned').waitFor();
    await page.goto(`${url}/token/${samples.nft}?id=1234567890123456789`);
    await page.getByText('No transfer of this number is indexed.').waitFor();

    const editions = await get<Moved>('token_transfers', { token: contracts.editions });
    const id = editions.transfers[0]?.tokenId ?? assert.fail();
    await page.goto(`${url}/token/${contracts.editions}?id=${id}`);
    await page.getByRole('heading', { name: 'Holders' }).waitFor();
    const held = new Map<string, bigint>();
    for (const { from, to, amount, tokenId: number } of editions.transfers)
      if (number === id) {
        held.set(from, (held.get(from) ?? 0n) - BigInt(amount));
        held.set(to, (held.get(to) ?? 0n) + BigInt(amount));
      }
    const expected = [...held].filter(([address, units]) => units > 0n && !/^0x0+$/.test(address)).length;
    const table = page.getByRole('table', { name: 'Holders of the token number' });
    assert.equal(await table.locator('tbody tr').count(), expected);
  },
});
