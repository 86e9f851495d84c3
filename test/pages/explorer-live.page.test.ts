import assert from 'node:assert/strict';
import { join } from 'node:path';
import { encodeFunctionData } from 'viem';
import { z } from 'zod';
import { openKeyStore } from '../../src/access/keys.ts';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { abis, tokenCode } from '../../src/dev/contracts.ts';
import { serve } from '../server/serving.ts';
import type { Owner } from '../support/cleanup.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { address, txHash } from '../support/index-fixture.ts';
import { receiptOf } from '../support/receipt.ts';
import { waitFor } from '../support/wait.ts';
import { pageTests, recordTexts, textOf } from './browser.ts';

const HOSTILE = '<img src=x onerror="document.title=`owned`">';
const WALLET = address('watched wallet');

/** A chain with its daemon; `send` mines one transaction of the chain's rich account and gives its contract, if it made one. */
async function chain(owner: Owner) {
  const anvil: Anvil = await startAnvil();
  owner.after(() => anvil.stop());
  const { url, key, dataDir, reaches, get } = await startTestDaemon(owner, {
    flags: { '--node-http': anvil.url, '--node-ws': anvil.wsUrl },
  });
  const [from] = z.array(z.string()).parse(await anvil.call('eth_accounts'));
  const send = async (transaction: object) => {
    const hash = await anvil.call('eth_sendTransaction', [{ from, gas: '0x2dc6c0', ...transaction }]);
    const receipt = await receiptOf(anvil, hash);
    await reaches(Number(await anvil.call('eth_blockNumber')));
    return receipt.contractAddress ?? '';
  };
  return { anvil, url, key, dataDir, send, get };
}

const coins = (amount: number) => `0x${(BigInt(amount) * 10n ** 18n).toString(16)}`;

pageTests({
  'a transfer appears while the page is open, and is struck out when the chain takes it back': async (
    t,
    open,
  ) => {
    const { anvil, url, key, send } = await chain(t);
    await send({ to: WALLET, value: coins(1) });
    await send({ to: WALLET, value: coins(5) });
    const page = await open(t, `${url}/#/wallet/${WALLET}/transfers`, { key });
    await page.getByText('Live: new transfers appear by themselves').waitFor();
    const live = page.locator('.live-rows tr');
    assert.equal(await live.count(), 0);

    await send({ to: WALLET, value: coins(42) });
    await live.first().waitFor();
    assert.match(await textOf(live.first()), /← in.*42/);
    await anvil.call('anvil_reorg', [2, []]);
    await anvil.call('evm_mine');
    await page.locator('.live-rows .withdrawn').waitFor();
    const ofPage = () => page.locator('#transfers tbody:not(.live-rows) td:nth-child(4)').allInnerTexts();
    await waitFor(async () => (await ofPage()).join() === '1', {
      what: 'the page without what was taken back',
    });
  },

  'after a lost connection the page catches up with what it missed': async (t, open) => {
    const { anvil, url, key, send } = await chain(t);
    await send({ to: WALLET, value: coins(1) });
    const page = await open(t, `${url}/#/`, { key });
    const sockets: { close(): Promise<unknown> }[] = [];
    let mayConnect = Promise.withResolvers<void>();
    await page.routeWebSocket(/\/ws/, async (socket) => {
      await mayConnect.promise;
      const server = socket.connectToServer();
      sockets.push({ close: () => Promise.all([socket.close(), server.close()]) });
    });
    mayConnect.resolve();
    await page.goto(`${url}/#/wallet/${WALLET}/transfers`);
    const connected = page.getByText('Live: new transfers appear by themselves');
    await connected.waitFor();
    await send({ to: WALLET, value: coins(2) });
    const live = page.locator('.live-rows tr');
    await live.first().waitFor();

    const hasShown = await recordTexts(page);
    mayConnect = Promise.withResolvers();
    await sockets[0]?.close();
    await hasShown('Live: interrupted');
    await send({ to: WALLET, value: coins(3) });
    await anvil.call('anvil_reorg', [2, []]);
    await send({ to: WALLET, value: coins(4) });
    await send({ to: WALLET, value: coins(5) });
    mayConnect.resolve();
    await connected.waitFor();
    const amounts = () => page.locator('#transfers tbody tr td:nth-child(4)').allInnerTexts();
    await waitFor(async () => (await amounts()).join() === '5,4,1', {
      what: 'what the chain has now, each once',
    });
    await send({ to: WALLET, value: coins(6) });
    await waitFor(async () => (await amounts()).join() === '6,5,4,1', { what: 'what comes from then on' });
  },

  'what happens while another page is on its way is shown too': async (t, open) => {
    const { url, key, send } = await chain(t);
    await send({ to: WALLET, value: coins(1) });
    const page = await open(t, `${url}/#/wallet/${WALLET}/transfers`, { key });
    await page.getByText('Live: new transfers appear by themselves').waitFor();
    const held: (() => Promise<void>)[] = [];
    await page.route('**/api/address_transfers*direction=in*', async (route) => {
      const response = await route.fetch();
      held.push(() => route.fulfill({ response }));
    });
    await page.locator('#transfers').getByText('In', { exact: true }).click();
    await page.mouse.move(0, 0);
    const answer = await waitFor(() => held.shift(), { what: 'the server to have read the page' });
    await send({ to: WALLET, value: coins(42) });
    const live = page.locator('.live-rows tr');
    await live.first().waitFor();
    const answered = page.waitForResponse('**/api/address_transfers*direction=in*');
    await answer();
    await answered;
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))'); // time to draw it
    assert.equal(await live.count(), 1);
    assert.match(await textOf(live.first()), /← in.*42/);
  },

  'new transfers wait while somebody is about to click on one, and come on request or when the way is free':
    async (t, open) => {
      const { url, key, send } = await chain(t);
      await send({ to: WALLET, value: coins(1) });
      const page = await open(t, `${url}/#/wallet/${WALLET}/transfers`, { key });
      await page.getByText('Live: new transfers appear by themselves').waitFor();
      const live = page.locator('.live-rows tr');
      const row = page.locator('#transfers tbody:not(.live-rows) tr').first();
      await row.hover();
      const place = await row.boundingBox();
      await send({ to: WALLET, value: coins(2) });
      await page.getByRole('button', { name: '1 new transfer', exact: true }).waitFor();
      await send({ to: WALLET, value: coins(3) });
      const shown = page.getByRole('button', { name: '2 new transfers' });
      await shown.waitFor();
      assert.equal(await live.count(), 0);
      assert.deepEqual(await row.boundingBox(), place);
      await shown.click();
      assert.deepEqual(await live.locator('td:nth-child(4)').allInnerTexts(), ['3', '2']);
      await page.locator('#transfers:focus').waitFor();

      await page.mouse.move(0, 0);
      await row.getByRole('link').first().focus();
      await send({ to: WALLET, value: coins(4) });
      await page.getByRole('button', { name: '1 new transfer', exact: true }).waitFor();
      assert.equal(await live.count(), 2);
      await page.getByRole('searchbox').focus();
      await live.nth(2).waitFor();

      await page.setViewportSize({ width: 1280, height: 200 });
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await send({ to: WALLET, value: coins(5) });
      await page.getByRole('button', { name: '1 new transfer', exact: true }).waitFor();
      assert.equal(await live.count(), 3);
      await page.evaluate('scrollTo(0, 0)');
      await live.nth(3).waitFor();
    },

  'of more new transfers than are listed the page says so, and loads them on request': async (t, open) => {
    const { server, key, index } = await serve(t);
    index.append([{ first: [{ from: 'alice', to: 'bob' }] }]);
    const page = await open(t, `${server.url}/healthz`, { key });
    const transfer = {
      ...{ blockNumber: 2, txHash: txHash('live'), transferType: 'native_direct', from: WALLET },
      ...{ to: address('bob'), tokenAddress: null, tokenId: null, symbol: 'MON', decimals: 18, amount: '1' },
      ...{ direction: 'out', timestamp: '2026-01-01T00:00:00.000Z' },
    };
    await page.routeWebSocket(/\/ws/, (socket) => {
      socket.onMessage(() => {
        socket.send(JSON.stringify({ id: 1, result: '0x1' }));
        for (let id = 1000; id < 1060; id++) {
          const params = { result: { ...transfer, id } };
          socket.send(JSON.stringify({ method: 'eth_subscription', params }));
        }
      });
    });
    await page.goto(`${server.url}/#/wallet/${WALLET}/transfers`);
    const told = page.getByText('Others came between these and those below.');
    await told.waitFor();
    assert.equal(await page.locator('.live-rows tr').count(), 50);
    assert.equal(await page.getByText('No transfers match this filter.').isVisible(), false);
    const asked = page.waitForRequest('**/api/address_transfers*limit=25*');
    await page.getByRole('button', { name: 'Load anew' }).click();
    await asked;
    await told.waitFor({ state: 'detached' });
  },

  'a key that ends while a wallet is watched is asked for anew at once': async (t, open) => {
    const { url, key, dataDir, send } = await chain(t);
    await send({ to: WALLET, value: coins(1) });
    const page = await open(t, `${url}/#/wallet/${WALLET}/transfers`, { key });
    await page.getByText('Live: new transfers appear by themselves').waitFor();
    const keys = openKeyStore(join(dataDir, 'keys.db'));
    for (const { id } of keys.list()) keys.revoke(id);
    keys.close();
    await page.getByText('This key is invalid or has been revoked.').waitFor();
    await page.getByLabel('API key').waitFor();
  },

  'what happens between the page and the connection is shown too': async (t, open) => {
    const { url, key, send } = await chain(t);
    await send({ to: WALLET, value: coins(1) });
    const page = await open(t, `${url}/#/`, { key });
    const mayConnect = Promise.withResolvers<void>();
    await page.routeWebSocket(/\/ws/, async (socket) => {
      await mayConnect.promise;
      socket.connectToServer();
    });
    await page.goto(`${url}/#/wallet/${WALLET}/transfers`);
    await page.getByText('Live: connecting').waitFor();
    await send({ to: WALLET, value: coins(42) });
    mayConnect.resolve();
    const live = page.locator('.live-rows tr');
    await live.first().waitFor();
    assert.match(await textOf(live.first()), /← in.*42/);
    assert.equal(await live.count(), 1, 'what the page held came again');
  },

  'a token whose contract names itself in markup is shown by that name and does nothing': async (t, open) => {
    const { url, key, send, get } = await chain(t);
    const token = await send({ data: tokenCode(HOSTILE, HOSTILE, 18) });
    const mint = encodeFunctionData({
      abi: abis.DemoToken,
      functionName: 'mint',
      args: [WALLET, 5n * 10n ** 18n],
    });
    await send({ to: token, data: mint });
    await waitFor(async () => (await get('token_stats', { token })).symbol !== null, {
      what: 'the words of the contract',
    });
    const page = await open(t, `${url}/#/wallet/${WALLET}`, { key });
    for (const [part, view] of Object.entries({
      transfers: `wallet/${WALLET}/transfers`,
      summary: `token/${token}`,
    })) {
      await page.goto(`${url}/#/${view}`);
      await page.reload();
      await page.locator(`#${part}`).getByText('<img src=x').first().waitFor();
      assert.equal(await page.locator('main img, main script').count(), 0, view);
      assert.doesNotMatch(await page.title(), /owned/);
    }
  },
});
