/** Nodes whose answer about all receipts of a block fails, is short, or is null. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import type { Tolerance } from '../../../src/decode/tolerance.ts';
import { type LoadRules, loadBlocks } from '../../../src/indexer/backfill/load-blocks.ts';
import { MissingReceipts } from '../../../src/indexer/require-transactions.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { PLAIN_RULES } from '../../decode/plain.ts';
import { NodeError, startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';

const RULES: LoadRules = { ...PLAIN_RULES, traces: null, blockReceipts: true, monad: false };
const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

interface Receipt {
  transactionHash: string;
}

const [generated] = [...generateChain({ seed: 7, blocks: 3, txPerBlock: 6 }).blocks].slice(2);
const BLOCK = JSON.parse(String(generated?.block)) as { number: string; transactions: unknown[] };
const RECEIPTS = JSON.parse(String(generated?.receipts)) as Receipt[];

/** Loads the block from a node that answers `eth_getBlockReceipts` as given. */
async function setUp(t: TestContext) {
  let list: () => unknown = () => RECEIPTS;
  let single: (hash: unknown) => unknown = (hash) =>
    RECEIPTS.find(({ transactionHash }) => transactionHash === hash) ?? null;
  let block: object = BLOCK;
  const node = await startMisbehavingNode({
    answer(method, params) {
      if (method === 'eth_getBlockReceipts') return list();
      return method === 'eth_getTransactionReceipt' ? single(params[0]) : block;
    },
  });
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 60_000, maxSockets: 4, maxBatch: 10 });
  t.after(() => client.close());
  const number = Number(BLOCK.number);
  return {
    load: (tolerance: Tolerance = {}) => loadBlocks(client, { ...RULES, tolerance }, number, number),
    answer(answers: { list?: () => unknown; single?: (hash: unknown) => unknown; block?: object }) {
      ({ list = list, single = single, block = block } = answers);
    },
  };
}

const fail = (code: number, message: string) => () => {
  throw new NodeError(code, message);
};

test('receipts are fetched one by one where the answer about all of them fails, is short or null', async (t) => {
  const { load, answer } = await setUp(t);
  const usual = await load();
  assert.ok(usual.transferCount > 0);
  for (const list of [
    fail(-32_000, 'receipts length mismatch: 1 vs 0'),
    fail(-32_603, 'internal error'),
    fail(-32_601, 'the method eth_getBlockReceipts does not exist'),
    () => RECEIPTS.slice(1),
    () => [],
    () => null,
  ]) {
    answer({ list });
    assert.deepEqual(await load(), usual);
  }
});

test('a failure that single receipts do not cure is named, and a busy node is asked no more', async (t) => {
  const { load, answer } = await setUp(t);
  answer({ list: fail(-32_000, 'receipts length mismatch: 1 vs 0'), single: () => null });
  await assert.rejects(load(), {
    reason: 'rpc',
    message: /^block 3: .*receipts length mismatch.*; if this stays, use another node/,
  });
  answer({ single: fail(-32_000, 'no') });
  await assert.rejects(load(), { reason: 'rpc', message: /receipts length mismatch/ });
  answer({ list: fail(-32_000, 'overloaded, try again later'), single: () => assert.fail('busy') });
  await assert.rejects(load(), /overloaded/);
  answer({ list: () => null, single: () => null });
  await assert.rejects(load(), { reason: 'inconsistent', message: /does not have the receipts of block 3/ });
  answer({ list: () => RECEIPTS.slice(1), single: () => null });
  await assert.rejects(load(), {
    message: /does not have the receipt of 0x\w+ of block 3.* use another node/,
  });
});

test('a block without transactions has no receipts, whether null, none or an error says so', async (t) => {
  const { load, answer } = await setUp(t);
  const empty = { ...BLOCK, transactions: [], receiptsRoot: EMPTY_TRIE_ROOT };
  for (const transactions of [[], null])
    for (const list of [() => null, () => [], fail(-32_000, 'no receipts')]) {
      answer({ block: { ...empty, transactions }, list });
      assert.deepEqual([(await load()).blockCount, (await load()).transferCount], [1, 0]);
    }
  answer({ block: { ...empty, receiptsRoot: `0x${'ab'.repeat(32)}` }, list: fail(-32_000, 'no receipts') });
  await assert.rejects(load(), /no receipts/, 'its header says that there are some');
});

test('a receipt that the node lacks for good is lost only where that is accepted, and leaves a log gap', async (t) => {
  const { load, answer } = await setUp(t);
  const usual = await load();
  const lost = RECEIPTS[2]!.transactionHash;
  const single = (hash: unknown) =>
    hash === lost ? null : (RECEIPTS.find(({ transactionHash }) => transactionHash === hash) ?? null);
  for (const [list, hasOthers] of [
    [() => null, true],
    [() => RECEIPTS.map((receipt) => (receipt.transactionHash === lost ? null : receipt)), true],
    [fail(-32_000, 'failed to find a transaction in the block'), true],
  ] as const) {
    answer({ list, single });
    const error = await load().catch((error: unknown) => error);
    assert.ok(error instanceof MissingReceipts, String(error));
    assert.equal(error.missing.hasOthers, hasOthers);
    for (const tolerance of [{ accepted: [error.missing.digest] }, { gaps: [{ first: 3, last: 3 }] }]) {
      const batch = await load(tolerance);
      assert.ok(batch.gaps.some(({ kind }) => kind === 'log'));
      assert.ok(batch.transferCount > 0 && batch.transferCount < usual.transferCount);
    }
    await assert.rejects(load({ accepted: [`0x${'1'.repeat(64)} receipts: `] }), MissingReceipts);
  }
  answer({ list: () => null, single: () => null });
  const error = await load().catch((error: unknown) => error);
  assert.ok(error instanceof MissingReceipts && !error.missing.hasOthers, String(error));
  const batch = await load({ accepted: [error.missing.digest] });
  assert.deepEqual([batch.transferCount, batch.gaps.some(({ kind }) => kind === 'log')], [0, true]);
});
