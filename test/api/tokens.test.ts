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

async function serveBlocks(t: TestContext, blocks: readonly NamedBlock[]): Promise<Serving> {
  const index = createIndex(t);
  index.append(blocks);
  return serve(t, { index });
}

const iso = (block: number) => new Date(timestampOf(block) * 1000).toISOString();
const COIN = address('coin');

test('token_stats counts wallets and holders without the zero address', async (t) => {
  const move = { kind: 'erc20', token: 'coin' } as const;
  const serving = await serveBlocks(t, [
    {},
    { mint: [{ ...move, from: 'zero', to: 'alice', amount: 10n }] },
    { all: [{ ...move, from: 'alice', to: 'bob', amount: 10n }] },
    {
      nothing: [{ ...move, from: 'carol', to: 'dave', amount: 0n }],
      burn: [{ ...move, from: 'bob', to: 'zero', amount: 3n }],
    },
  ]);
  assert.deepEqual(await serving.json(`/api/token_stats?token=${COIN}`), {
    token: COIN,
    name: null,
    symbol: null,
    decimals: null,
    type: 'erc20',
    transferCount: 4,
    holderCount: 1,
    uniqueWallets: 4,
    firstSeenBlock: 2,
    firstSeenAt: iso(2),
    estimateQuality: null,
    estimateReason: null,
    historicalCoverageStartBlock: 1,
  });
});

test('first buyers are the receivers of non-zero amounts, in order, without duplicates', async (t) => {
  const move = { kind: 'erc20', token: 'coin' } as const;
  const serving = await serveBlocks(t, [
    { dust: [{ ...move, from: 'zero', to: 'late', amount: 0n }] },
    {
      a: [
        { ...move, from: 'zero', to: 'alice', amount: 5n },
        { ...move, from: 'alice', to: 'zero', amount: 1n },
      ],
    },
    {
      b: [
        { ...move, from: 'alice', to: 'bob', amount: 1n },
        { ...move, from: 'bob', to: 'late', amount: 1n },
      ],
    },
  ]);
  const { buyers, count } = await serving.json(`/api/token_first_buyers?token=${COIN}`);
  assert.deepEqual(buyers, [
    { address: address('alice'), firstSeenBlock: 2, firstSeenAt: iso(2), transferCount: 3 },
    { address: address('bob'), firstSeenBlock: 3, firstSeenAt: iso(3), transferCount: 2 },
    { address: address('late'), firstSeenBlock: 3, firstSeenAt: iso(3), transferCount: 2 },
  ]);
  assert.equal(count, 3);
});

test('holders are ranked numerically, even beyond 2^256; negative and zero balances are left out', async (t) => {
  const give = (to: string, amount: bigint) => ({
    kind: 'erc20' as const,
    token: 'coin',
    from: 'maker',
    to,
    amount,
  });
  const huge = 2n ** 256n - 1n;
  const serving = await serveBlocks(t, [
    { a: [give('nine', 9n), give('ten', 10n), give('none', 0n)] },
    { b: [give('twice', huge), give('twice', huge), give('once', huge)] },
  ]);
  const { holders } = await serving.json(`/api/token_holders?token=${COIN}`);
  assert.deepEqual(holders, [
    { address: address('twice'), balance: String(2n * huge) },
    { address: address('once'), balance: String(huge) },
    { address: address('ten'), balance: '10' },
    { address: address('nine'), balance: '9' },
  ]);
});

test('ERC-721 counts pieces and ERC-1155 sums units of all ids', async (t) => {
  const art = (to: string, tokenId: bigint) => ({
    kind: 'erc721' as const,
    token: 'art',
    from: 'zero',
    to,
    tokenId,
  });
  const item = (to: string, tokenId: bigint, amount: bigint) => {
    return { kind: 'erc1155' as const, token: 'items', from: 'zero', to, tokenId, amount };
  };
  const serving = await serveBlocks(t, [
    { a: [art('alice', 1n), art('bob', 2n), art('bob', 3n), item('alice', 1n, 5n), item('alice', 2n, 7n)] },
  ]);
  const holders = async (token: string) =>
    (await serving.json(`/api/token_holders?token=${address(token)}`)).holders;
  assert.deepEqual(await holders('art'), [
    { address: address('bob'), balance: '2' },
    { address: address('alice'), balance: '1' },
  ]);
  assert.deepEqual(await holders('items'), [{ address: address('alice'), balance: '12' }]);
});

test('whale_transfers truncates amounts, compares exactly and stays within its window', async (t) => {
  const limit = 100n * MON;
  const serving = await serveBlocks(t, [
    { old: [{ from: 'alice', to: 'bob', amount: limit * 2n }] },
    {
      exact: [{ from: 'alice', to: 'bob', amount: limit }],
      below: [{ from: 'alice', to: 'bob', amount: limit - 1n }],
    },
    { inside: [{ kind: 'native_internal', from: 'pool', to: 'bob', amount: limit + 1_999_999_999_999n }] },
  ]);
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

/** The answer of each endpoint about an address without transfers. */
const NOTHING: Record<string, object> = {
  [`token_first_buyers?token=${COIN}`]: { token: COIN, buyers: [], nextCursor: null, count: 0 },
  [`token_stats?token=${COIN}`]: {
    token: COIN,
    name: null,
    symbol: null,
    decimals: null,
    type: null,
    transferCount: 0,
    holderCount: 0,
    uniqueWallets: 0,
    firstSeenBlock: null,
    firstSeenAt: null,
    estimateQuality: null,
    estimateReason: null,
  },
  [`token_holders?token=${COIN}`]: {
    token: COIN,
    symbol: null,
    decimals: null,
    estimateQuality: null,
    estimateReason: null,
    holders: [],
    nextCursor: null,
    count: 0,
  },
  whale_transfers: { minMon: 100, blocksWindow: 10_000, transfers: [], nextCursor: null, count: 0 },
  [`wallet_counterparties?address=${COIN}`]: {
    address: COIN,
    counterparties: [],
    nextCursor: null,
    count: 0,
  },
  [`wallet_label?address=${COIN}`]: {
    address: COIN,
    labels: [],
    confidence: 'none',
    stats: {
      txCount: 0,
      uniqueTokens: 0,
      nativeInMon: '0',
      nativeInWei: '0',
      nativeOutMon: '0',
      nativeOutWei: '0',
      ageBlocks: null,
      firstBlock: null,
      lastBlock: null,
      firstFunder: null,
    },
  },
  [`funding_recipients?address=${COIN}`]: {
    address: COIN,
    blocksWindow: 10_000,
    recipients: [],
    nextCursor: null,
    count: 0,
  },
  [`recent_token_transfers_out?address=${COIN}`]: {
    address: COIN,
    blocksWindow: 10_000,
    transfers: [],
    nextCursor: null,
    count: 0,
  },
  [`funding_chain?address=${COIN}`]: { address: COIN, chain: [], depth: 0 },
  [`coordinated_wallets?address=${COIN}`]: {
    address: COIN,
    funder: null,
    funderFundedCount: 0,
    hub: false,
    coordinated: [],
    nextCursor: null,
    count: 0,
  },
};

test('an address without indexed activity gets an empty answer, not an error', async (t) => {
  const serving = await serveBlocks(t, [{ a: [{ from: 'alice', to: 'bob' }] }]);
  for (const [request, expected] of Object.entries(NOTHING)) {
    assert.deepEqual(await serving.json(`/api/${request}`), { ...expected, historicalCoverageStartBlock: 1 });
  }
});
