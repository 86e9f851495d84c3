import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../server/serving.ts';
import { address, blockHash, createIndex, timestampOf, txHash } from '../support/index/index-fixture.ts';

const MON = 10n ** 18n;
const iso = (block: number) => new Date(timestampOf(block) * 1000).toISOString();

test('whale_transfers truncates amounts, compares exactly and stays within its window', async (t) => {
  const limit = 100n * MON;
  const index = createIndex(t);
  index.append([
    { old: [{ from: 'alice', to: 'bob', amount: limit * 2n }] },
    {
      exact: [{ from: 'alice', to: 'bob', amount: limit }],
      below: [{ from: 'alice', to: 'bob', amount: limit - 1n }],
    },
    { inside: [{ kind: 'native_internal', from: 'pool', to: 'bob', amount: limit + 1_999_999_999_999n }] },
  ]);
  const serving = await serve(t, { index });
  const whales = async (query: string) => {
    const { transfers, ...rest } = await serving.json(`/api/whale_transfers?${query}`);
    assert.ok(Array.isArray(transfers));
    return { hashes: transfers.map((transfer) => transfer.txHash), transfers, rest };
  };
  const { transfers, rest } = await whales('blocks=2');
  assert.deepEqual(transfers, [
    {
      id: 4,
      from: address('pool'),
      to: address('bob'),
      amount: '100.000001',
      amountWei: '100000001999999999999',
      txHash: txHash('inside'),
      eventIndex: 0,
      blockNumber: 3,
      blockHash: blockHash(3),
      timestamp: iso(3),
      transferType: 'native',
      source: 'internal',
    },
    {
      id: 2,
      from: address('alice'),
      to: address('bob'),
      amount: '100.000000',
      amountWei: '100000000000000000000',
      txHash: txHash('exact'),
      eventIndex: 0,
      blockNumber: 2,
      blockHash: blockHash(2),
      timestamp: iso(2),
      transferType: 'native',
      source: 'direct',
    },
  ]);
  assert.deepEqual(rest, {
    minMon: 100,
    blocksWindow: 2,
    nextCursor: null,
    count: 2,
    historicalCoverageStartBlock: 1,
  });
  assert.deepEqual((await whales('')).hashes, ['inside', 'exact', 'old'].map(txHash));
  assert.deepEqual((await whales('min_mon=100.0000000000000000001')).hashes, ['inside', 'old'].map(txHash));
  assert.deepEqual(
    (await whales('min_mon=99.999999999999999999')).hashes,
    ['inside', 'below', 'exact', 'old'].map(txHash),
  );
  assert.deepEqual((await whales('min_mon=0&limit=1')).hashes, [txHash('inside')]);
});
