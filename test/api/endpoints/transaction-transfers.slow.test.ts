/** /api/transaction_transfers and /api/block_transfers, including items that the node or the index lacks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeReads } from '../../../src/api/node-reads.ts';
import { openNodeReads } from '../../../src/daemon/node-reads.ts';
import { startAnvil } from '../../../src/dev/anvil.ts';
import { deployDemo } from '../../../src/dev/deploy.ts';
import { generateTraffic } from '../../../src/dev/traffic.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { TransactionParties } from '../../../src/streams/transfers/transaction-parties.ts';
import { errorOf, serve } from '../../server/serving.ts';
import { startTestDaemon } from '../../support/daemon/daemon.ts';
import { address, createIndex, txHash } from '../../support/index/index-fixture.ts';
import { waitFor } from '../../support/wait.ts';

const HASH = txHash('a');

test('an unknown, pending, not yet indexed or orphaned transaction is refused with the reason', async (t) => {
  const index = createIndex(t, 10);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }, {}]);
  let answer: Awaited<ReturnType<NodeReads['blockOfTransaction']>> = null;
  const nodeReads: NodeReads = {
    blockOfTransaction: async () => answer,
    transaction: async () => null,
    blockByHash: async () => (answer === 'pending' ? null : answer),
    balancesAt: async () => new Map(),
    sendersOf: async () => [],
  };
  const { fetch } = await serve(t, { index, nodeReads });
  const outcome = async (path: string) => {
    const response = await fetch(path);
    const { error } = response.status === 200 ? { error: undefined } : await errorOf(response.clone());
    return [response.status, error?.code, response.headers.get('retry-after')];
  };
  const head = index.writer.head()!;
  for (const [given, expected] of [
    [null, [404, 'not_found', null]],
    ['pending', [503, 'not_ready', '1']],
    [{ ...head, number: 12 }, [503, 'not_ready', '1']],
    [{ ...head, number: 9 }, [404, 'not_found', null]],
    [{ ...head, hash: txHash('another branch') }, [503, 'not_ready', '1']],
    [head, [200, undefined, null]],
  ] as const) {
    answer = given;
    assert.deepEqual(await outcome(`/api/transaction_transfers?tx=${HASH}`), expected, JSON.stringify(given));
    if (given === 'pending') continue;
    assert.deepEqual(await outcome(`/api/block_transfers?block=${HASH}`), expected, JSON.stringify(given));
  }
  assert.deepEqual(await outcome('/api/block_transfers?block=12'), [503, 'not_ready', '1']);
  assert.deepEqual(await outcome('/api/block_transfers?block=9'), [404, 'not_found', null]);
  assert.deepEqual(await outcome('/api/block_transfers?block=11'), [200, undefined, null]);
});

test('an unresponsive node gives 503, while wallets are still answered', async (t) => {
  const index = createIndex(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const client = new RpcClient({ url: 'http://127.0.0.1:9', timeoutMs: 500, maxSockets: 1, maxBatch: 1 });
  t.after(() => client.close());
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const { fetch } = await serve(t, {
    index,
    nodeReads: openNodeReads(client, new TransactionParties(client), silent),
  });
  const response = await fetch(`/api/transaction_transfers?tx=${HASH}`);
  const { error } = await errorOf(response);
  assert.deepEqual([response.status, error.code], [503, 'node_unavailable']);
  assert.equal((await fetch(`/api/wallet_tokens?address=${address('alice')}`)).status, 200);
  const summary = await fetch(`/api/wallet_summary?address=${address('alice')}&native_balance=true`);
  assert.match(await summary.text(), /"nativeBalance":null/);
});

test('every transaction and block of a development node is found, with its internal transfers', async (t) => {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  const contracts = await deployDemo(anvil.url, { mine: true });
  await generateTraffic(anvil.url, contracts, { rounds: 2, mine: true });
  const flags = { '--node-http': anvil.url, '--start-block': 'earliest' };
  const { daemon, get } = await startTestDaemon(t, { flags });
  const head = Number(await anvil.call('eth_blockNumber'));
  await waitFor(() => daemon.status().head?.number === head, { what: `the index to reach block ${head}` });
  const kinds = new Set<string>();
  for (let block = 0; block <= head; block++) {
    const { transfers, blockHash } = await get<Answer>('block_transfers', { block, limit: 200 });
    const byHash = await get<Answer>('block_transfers', { block: blockHash, limit: 200 });
    assert.deepEqual(byHash.transfers.map(keyOf), transfers.map(keyOf));
    const hashes = new Set(transfers.map(({ txHash }) => txHash));
    const found: Answer['transfers'] = [];
    for (const tx of hashes) {
      const answer = await get<Answer>('transaction_transfers', { tx, limit: 200 });
      assert.deepEqual([answer.blockNumber, answer.blockHash], [block, blockHash]);
      found.push(...answer.transfers);
    }
    assert.deepEqual(found.map(keyOf), transfers.map(keyOf));
    for (const { transferType } of transfers) kinds.add(transferType);
  }
  const wallet = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'; // an account of the development node
  const { nativeBalanceWei } = await get('wallet_summary', { address: wallet, native_balance: 'true' });
  assert.equal(
    nativeBalanceWei,
    String(BigInt(String(await anvil.call('eth_getBalance', [wallet, 'latest'])))),
  );
  assert.deepEqual([...kinds].sort(), ['erc1155', 'erc20', 'erc721', 'native_direct', 'native_internal']);
});

interface Answer {
  blockNumber: number;
  blockHash: string;
  transfers: { id: number; txHash: string; eventIndex: number; transferType: string }[];
}

/** Excludes symbols, which are being read from the contracts meanwhile. */
function keyOf({ id, txHash, eventIndex, transferType }: Answer['transfers'][number]) {
  return [id, txHash, eventIndex, transferType];
}
