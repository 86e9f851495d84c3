import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Serving, serve } from '../server/serving.ts';
import {
  address,
  blockHash,
  createIndex,
  type NamedBlock,
  timestampOf,
  txHash,
} from '../support/index/index-fixture.ts';

const MON = 10n ** 18n;

/**
 * Block 100: carol pays herself, which funds nobody. 101: a contract pays bob inside a transaction. 102: alice pays bob
 * directly, twice. 103: a token. 104: alice pays carol inside a transaction.
 */
const STORY: NamedBlock[] = [
  {
    mint: [{ from: 'zero', to: 'alice', amount: 50n * MON }],
    self: [{ from: 'carol', to: 'carol', amount: 3n }],
  },
  { inside: [{ kind: 'native_internal', from: 'contract', to: 'bob', amount: MON / 4n }] },
  {
    first: [{ from: 'alice', to: 'bob', amount: (3n * MON) / 2n }],
    second: [
      { from: 'alice', to: 'bob', amount: 1n },
      { kind: 'erc20', from: 'bob', to: 'alice', token: 'coin', amount: 0n, logIndex: 0 },
    ],
  },
  { token: [{ kind: 'erc721', from: 'bob', to: 'dave', token: 'art', tokenId: 1n, logIndex: 0 }] },
  { late: [{ kind: 'native_internal', from: 'alice', to: 'carol', amount: 2n * MON }] },
];

async function serveStory(t: TestContext): Promise<Serving> {
  const index = createIndex(t, 100);
  index.append(STORY);
  return serve(t, { index });
}

const iso = (block: number) => new Date(timestampOf(block) * 1000).toISOString();
const COVERAGE = { historicalCoverageStartBlock: 100 };

const FIRST_OF_BOB = {
  from: address('alice'),
  amount: '1.5',
  amountWei: '1500000000000000000',
  txHash: txHash('first'),
  eventIndex: 0,
  blockNumber: 102,
  blockHash: blockHash(102),
  timestamp: iso(102),
  source: 'direct',
};

const NOBODY = {
  from: null,
  amount: null,
  amountWei: null,
  txHash: null,
  eventIndex: null,
  blockNumber: null,
  blockHash: null,
  timestamp: null,
  source: null,
};

test('wallet_summary counts all transfers of a wallet, including internal ones', async (t) => {
  const { json } = await serveStory(t);
  assert.deepEqual(await json(`/api/wallet_summary?address=${address('bob')}`), {
    address: address('bob'),
    firstSeenBlock: 101,
    lastSeenBlock: 103,
    txCount: 4,
    uniqueTokens: 2,
    nativeReceived: '1.750000000000000001',
    nativeReceivedWei: '1750000000000000001',
    nativeSent: '0',
    nativeSentWei: '0',
    nativeBalance: null,
    nativeBalanceWei: null,
    nativeBalanceReason: null,
    firstFundingSource: address('alice'),
    lastActivity: iso(103),
    ...COVERAGE,
  });
});

test('wallet_summary is empty for a wallet without activity, even a token contract', async (t) => {
  const { json } = await serveStory(t);
  for (const name of ['nobody', 'coin']) {
    assert.deepEqual(await json(`/api/wallet_summary?address=${address(name)}`), {
      address: address(name),
      firstSeenBlock: null,
      lastSeenBlock: null,
      txCount: 0,
      uniqueTokens: 0,
      nativeReceived: '0',
      nativeReceivedWei: '0',
      nativeSent: '0',
      nativeSentWei: '0',
      nativeBalance: null,
      nativeBalanceWei: null,
      nativeBalanceReason: null,
      firstFundingSource: null,
      lastActivity: null,
      ...COVERAGE,
    });
  }
});

test('wallet_funding_source gives the earliest direct transfer in both forms', async (t) => {
  const { json } = await serveStory(t);
  assert.deepEqual(await json(`/api/wallet_funding_source?address=${address('bob')}`), {
    address: address('bob'),
    firstFunding: FIRST_OF_BOB,
    ...FIRST_OF_BOB,
    ...COVERAGE,
  });
});

test('wallet_funding_source falls back to an internal transfer and ignores itself and the zero address', async (t) => {
  const { json } = await serveStory(t);
  const inside = {
    from: address('alice'),
    amount: '2',
    amountWei: '2000000000000000000',
    txHash: txHash('late'),
    eventIndex: 0,
    blockNumber: 104,
    blockHash: blockHash(104),
    timestamp: iso(104),
    source: 'internal',
  };
  assert.deepEqual(await json(`/api/wallet_funding_source?address=${address('carol')}`), {
    address: address('carol'),
    firstFunding: inside,
    ...inside,
    ...COVERAGE,
  });
  for (const name of ['alice', 'dave', 'nobody']) {
    assert.deepEqual(await json(`/api/wallet_funding_source?address=${address(name)}`), {
      address: address(name),
      firstFunding: null,
      ...NOBODY,
      ...COVERAGE,
    });
  }
});

test('latest_native_in returns the latest direct transfer, else the latest internal one, else null', async (t) => {
  const { json, index } = await serveStory(t);
  const latest = async (name: string) => {
    const { latestNativeIn, ...rest } = await json(`/api/latest_native_in?address=${address(name)}`);
    assert.deepEqual(rest, { address: address(name), ...COVERAGE });
    return latestNativeIn;
  };
  assert.deepEqual(await latest('bob'), {
    ...FIRST_OF_BOB,
    amount: '0.000000000000000001',
    amountWei: '1',
    txHash: txHash('second'),
  });
  assert.deepEqual(await latest('alice'), null);
  index.append([{ again: [{ kind: 'native_internal', from: 'contract', to: 'carol', amount: MON }] }]);
  assert.deepEqual(await latest('carol'), {
    from: address('contract'),
    amount: '1',
    amountWei: MON.toString(),
    txHash: txHash('again'),
    eventIndex: 0,
    blockNumber: 105,
    blockHash: blockHash(105),
    timestamp: iso(105),
    source: 'internal',
  });
  assert.deepEqual(await latest('nobody'), null);
});

test('after a rollback no endpoint shows the removed blocks', async (t) => {
  const { json, index } = await serveStory(t);
  const before = await json(`/api/wallet_summary?address=${address('bob')}`);
  index.append([{ more: [{ from: 'alice', to: 'bob', amount: 7n }] }]);
  assert.notDeepEqual(await json(`/api/wallet_summary?address=${address('bob')}`), before);
  index.writer.rollback(104);
  assert.deepEqual(await json(`/api/wallet_summary?address=${address('bob')}`), before);
});
