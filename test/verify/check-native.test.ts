import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { receiptOf } from '../support/chain/receipt.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { differencesOf, verifyFile } from '../support/index/verify.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Creation code that destroys the new contract in its own favour: ADDRESS, SELFDESTRUCT. */
const BURN = '0x30ff';

async function startChain(t: TestContext): Promise<{ anvil: Anvil; accounts: string[] }> {
  const anvil = await startAnvil();
  t.after(() => anvil.stop());
  return { anvil, accounts: (await anvil.call('eth_accounts')) as string[] };
}

/** Sends a transaction in its own block. Returns the block number. */
async function send(anvil: Anvil, transaction: Record<string, unknown>): Promise<number> {
  const receipt = await receiptOf(anvil, await anvil.call('eth_sendTransaction', [transaction]));
  assert.equal(receipt.status, '0x1');
  return Number(receipt.blockNumber);
}

/** A verification's report on native balances, for an index built from the node at `from`. */
async function nativeCheck(t: TestContext, anvil: Anvil, from = anvil.url) {
  const path = await buildIndex({ url: from, dir: tempDir(t) });
  const report = await verifyFile({ path, http: anvil.url });
  return {
    compared: report.checks.find(({ name }) => name === 'native')?.compared,
    differences: differencesOf(report).filter((text) => text.startsWith('native: ')),
  };
}

test('a missing native transfer is reported for both its wallets, with the block', async (t) => {
  const { anvil, accounts } = await startChain(t);
  const [a, b, c] = accounts;
  await send(anvil, { from: a, to: b, value: '0x3' });
  const wrong = await send(anvil, { from: b, to: c, value: '0x5' });
  const head = await send(anvil, { from: a, to: c, value: '0x7' });
  const node = await startMisbehavingNode({ upstream: anvil.url });
  t.after(() => node.close());
  node.misbehave({
    replace: (method, params, result) => {
      if (method !== 'eth_getBlockByNumber' || Number(params[0]) !== wrong) return result;
      const block = result as { transactions: object[] };
      return { ...block, transactions: block.transactions.map((tx) => ({ ...tx, value: '0x0' })) };
    },
  });
  const { compared, differences } = await nativeCheck(t, anvil, node.url);
  assert.equal(compared, `balance changes of 3 wallets from block 0 to ${head}`);
  assert.equal(differences.length, 2);
  const missing = `transfer 1 of block ${wrong} is missing in the index and native_direct 5 from ${b} to ${c}`;
  assert.ok(differences.every((text) => text.includes(missing)));
  assert.ok(
    differences.some((text) => text.startsWith(`native: ${c} gained 12 wei, its transfers and fees say 7: `)),
  );
});

test('reports a balance that changed without any transfer in the blocks of the node', async (t) => {
  const { anvil, accounts } = await startChain(t);
  const [a, b] = accounts;
  await send(anvil, { from: a, to: b, value: '0x3' });
  await anvil.call('anvil_setBalance', [b, '0x64']);
  await send(anvil, { from: a, to: a, value: '0x1' });
  const { differences } = await nativeCheck(t, anvil);
  assert.equal(differences.length, 1);
  assert.match(
    differences[0] ?? '',
    new RegExp(
      `^native: ${b} gained -\\d+ wei, its transfers and fees say 3; the index holds what the node's`,
    ),
  );
});

test('coins burnt by a contract that destroys itself to itself are not a difference', async (t) => {
  const { anvil, accounts } = await startChain(t);
  const head = await send(anvil, { from: accounts[0], data: BURN, value: '0x9' });
  assert.deepEqual(await nativeCheck(t, anvil), {
    compared: `balance changes of 2 wallets from block 0 to ${head}`,
    differences: [],
  });
});
