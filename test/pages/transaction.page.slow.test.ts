/** What the pages of transactions and blocks say: in words, by name, and on a phone. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { z } from 'zod';
import { receiptOf } from '../support/chain/receipt.ts';
import { compileFixture } from '../support/chain/solidity.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { assertAccessible } from './accessible.ts';
import { pageTests, textOf } from './browser.ts';
import { startWorld, type World } from './explorer-world.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

const BLOCK = z.object({
  number: z.string(),
  transactions: z.array(z.object({ hash: z.string(), input: z.string(), to: z.string().nullable() })),
});

/** The first transaction of the chain that calls a selector. */
async function callOf(selector: string): Promise<{ hash: string; block: number }> {
  const { anvil } = world;
  const head = Number(await anvil.call('eth_blockNumber'));
  for (let block = 0; block <= head; block++) {
    const found = BLOCK.parse(await anvil.call('eth_getBlockByNumber', [`0x${block.toString(16)}`, true]));
    const call = found.transactions.find(({ to, input }) => to !== null && input.startsWith(selector));
    if (call !== undefined) return { hash: call.hash, block };
  }
  throw new Error(`no transaction calls ${selector}`);
}

const TRANSFER = '0xa9059cbb';
/** `buy(address,uint256)` of the demo's router. */
const ROUTER_BUY = '0xcce7ec13';
/** `payThenFail(address,uint256)` */
const FAILING = '0x464fb0f5';

pageTests({
  'a trade is told in a sentence with names, also in the title of the tab': async (t, open) => {
    const { url, key } = world;
    const { hash } = await callOf(ROUTER_BUY);
    const page = await open(t, `${url}/tx/${hash}`, { key });
    await page.locator('.words').getByText('bought').waitFor();
    assert.equal(await textOf(page.locator('.words')), 'Demo Swing Trader bought 1,000 DEMO for 10 MON');
    assert.match(await page.title(), /^Demo Swing Trader bought 1,000 DEMO for 10 MON · Transaction 0x/);
    assert.match(await textOf(page.locator('#summary .facts')), /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
    await assertAccessible(page, 'a transaction');
  },

  'a method and an event are named, and open to their arguments, topics and data': async (t, open) => {
    const { url, key, contracts } = world;
    const { hash } = await callOf(TRANSFER);
    const page = await open(t, `${url}/tx/${hash}`, { key });
    await page.locator('#method').getByText('transfer(address,uint256)').waitFor();
    assert.deepEqual(
      (await page.locator('#method dt').allInnerTexts()).map((text) => text.split(/\s/)[0]),
      ['to', 'value'],
    );
    const event = page.locator('#logs tbody tr').first();
    assert.match(await textOf(event), /Transfer/);
    assert.equal(await event.locator(`a[href$="${contracts.token}"]`).count(), 1);
    await event.locator('details.event > summary').click();
    await event.locator('summary', { hasText: 'Topics' }).click();
    assert.equal(await event.locator('.items code').count(), 3);
    await event.locator('summary', { hasText: 'Data' }).click();
    await event
      .locator('code')
      .filter({ hasText: /^0x0{20}/ })
      .last()
      .waitFor();
    await assertAccessible(page, 'an open event');
  },

  'the calls of a multicall are listed by name, one within the other': async (t, open) => {
    const { url, key, anvil, contracts, samples } = world;
    const abi = parseAbi([
      'function multicall(bytes[] data)',
      'function aggregate((address target, bytes callData)[] calls)',
      'function transfer(address to, uint256 value)',
      'function stranger(uint256 value)',
    ]);
    const args = [samples.whale, 3n * 10n ** 18n] as const;
    const transfer = encodeFunctionData({ abi, functionName: 'transfer', args });
    const stranger = encodeFunctionData({ abi, functionName: 'stranger', args: [7n] });
    const callData = encodeFunctionData({ abi, functionName: 'multicall', args: [[transfer, stranger]] });
    const calls = [{ target: contracts.token, callData }];
    const data = encodeFunctionData({ abi, functionName: 'aggregate', args: [calls] });
    const [from] = z.array(z.string()).parse(await anvil.call('eth_accounts'));
    const hash = String(await anvil.call('eth_sendTransaction', [{ from, to: samples.whale, data }]));
    await anvil.call('evm_mine');
    const page = await open(t, `${url}/tx/${hash}`, { key });
    const shown = page.locator('.inner-calls li');
    await shown.getByText('value 3 DEMO').waitFor();
    assert.deepEqual(
      (await shown.locator('.call').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim()),
      ['multicall of DEMO', 'transfer of DEMO', `${stranger.slice(0, 10)} of DEMO`],
    );
    await shown.getByText('value 3 DEMO').click();
    await shown.getByText('transfer(address,uint256)').waitFor();
    assert.match(
      await textOf(page.locator('.words')),
      / called aggregate of Demo Whale: multicall, transfer, 0x[0-9a-f]{8}$/,
    );
    await assertAccessible(page, 'a multicall');
  },

  'a failed transaction has its reason': async (t, open) => {
    const { url, key } = world;
    const { hash } = await callOf(FAILING);
    const page = await open(t, `${url}/tx/${hash}`, { key });
    await page.getByText('failed after paying').first().waitFor();
    assert.match(await textOf(page.locator('.words')), / tried to call 0x464fb0f5 of Demo Payout$/);
    await assertAccessible(page, 'a failed transaction');
  },

  'each way to fail is told in words, on a phone within its box': async (t, open) => {
    const { url, key, anvil, reaches } = world;
    const { Failures } = await compileFixture('Failures.sol');
    const [from] = z.array(z.string()).parse(await anvil.call('eth_accounts'));
    const send = async (transaction: object) => {
      const hash = String(await anvil.call('eth_sendTransaction', [{ from, ...transaction }]));
      await anvil.call('evm_mine');
      return hash;
    };
    const { contractAddress } = await receiptOf(anvil, await send({ data: Failures }));
    const abi = parseAbi([
      'function withMessage()',
      'function withoutReason()',
      'function withKnownError()',
      'function withOwnError(uint256)',
      'function withOverflow(uint256)',
      'function withoutGas()',
    ]);
    const ways = [
      [encodeFunctionData({ abi, functionName: 'withMessage' }), 'not on a Saturday'],
      [encodeFunctionData({ abi, functionName: 'withoutReason' }), 'reverted without a reason'],
      [encodeFunctionData({ abi, functionName: 'withOwnError', args: [7n] }), 'custom error 0x'],
      [encodeFunctionData({ abi, functionName: 'withOverflow', args: [9n] }), 'overflow or underflow'],
      [encodeFunctionData({ abi, functionName: 'withoutGas' }), 'out of gas'],
      [encodeFunctionData({ abi, functionName: 'withKnownError' }), 'ERC20InsufficientBalance(sender: 0x'],
    ] as const;
    const page = await open(t, `${url}/`, { key });
    for (const [data, words] of ways) {
      const hash = await send({ to: contractAddress, data, gas: '0x30d40' });
      await reaches(Number(await anvil.call('eth_blockNumber')));
      await page.goto(`${url}/tx/${hash}`);
      await page.locator('#summary .notice.bad', { hasText: words }).waitFor();
    }
    await assertAccessible(page, 'a failed transaction with a long reason');
  },

  'a block names methods and parties, and on a phone shows who paid whom with an arrow': async (t, open) => {
    const { url, key } = world;
    const { block } = await callOf(ROUTER_BUY);
    const page = await open(t, `${url}/block/${block}`, { key });
    const row = page.locator('#transactions tbody tr').filter({ hasText: 'Demo Router' }).first();
    await row.waitFor();
    await page.locator('#transactions .method').getByText('transfer', { exact: true }).first().waitFor();
    assert.equal(await row.locator('.payee .card-only').isVisible(), false);
    await page.setViewportSize({ width: 390, height: 800 });
    assert.equal(await row.locator('.payee .card-only').isVisible(), true);
    const [payer, payee] = await Promise.all(
      ['.payer', '.payee'].map((side) => row.locator(side).boundingBox()),
    );
    assert.ok(payer && payee && Math.abs(payer.y - payee.y) < 8 && payer.x < payee.x);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
    await page.goto(`${url}/block/${block}?tab=transfers`);
    const transfer = page.locator('#transfers tbody tr').first();
    await transfer.locator('.payee .card-only').waitFor();
    assert.match(await textOf(transfer.locator('.number')), /\d.*[A-Z]{3}/, 'an amount with its token');
    await assertAccessible(page, 'a block on a phone');
  },

  'while the node is away a block shows its indexed transfers, and it is complete once the node is back':
    async (t, open) => {
      const { url, key } = world;
      const { block } = await callOf(ROUTER_BUY);
      const page = await open(t, `${url}/`, { key });
      const error = { code: -32603, message: 'upstream unavailable' };
      await page.route('**/rpc', (route) =>
        route.fulfill({ status: 502, json: { jsonrpc: '2.0', id: 1, error } }),
      );
      await page.goto(`${url}/block/${block}`);
      await page.getByText('The node behind this server did not answer.').waitFor();
      await page.locator('#transfers tbody tr').first().waitFor();
      await page.unroute('**/rpc');
      await page.locator('#summary dt:text-is("Hash")').waitFor();
      await page.locator('#transactions tbody tr').first().waitFor();
    },
});
