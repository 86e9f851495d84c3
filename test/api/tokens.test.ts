import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Serving, serve } from '../server/serving.ts';
import {
  address,
  createIndex,
  type NamedBlock,
  timestampOf,
  txHash,
} from '../support/index/index-fixture.ts';
import { forgetDerived } from '../support/index/older-index.ts';

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
    supply: '7',
    minted: '10',
    burned: '3',
    truncated: false,
    concentration: { top1: 1, top10: 1, top50: 1, top100: 1, holdersForHalf: 1 },
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
  const { buyers, count, truncated } = await serving.json(`/api/token_first_buyers?token=${COIN}`);
  const first = (block: number, tx: string, eventIndex: number) => ({
    firstSeenBlock: block,
    firstSeenAt: iso(block),
    txHash: txHash(tx),
    eventIndex,
  });
  assert.deepEqual(buyers, [
    { address: address('alice'), ...first(2, 'a', 0), transferCount: 3 },
    { address: address('bob'), ...first(3, 'b', 0), transferCount: 2 },
    { address: address('late'), ...first(3, 'b', 1), transferCount: 2 },
  ]);
  assert.deepEqual([count, truncated], [3, false]);
});

test('the list of first buyers says when the token may have more than are kept', async (t) => {
  const give = (to: string) => ({ kind: 'erc20' as const, token: 'coin', from: 'zero', to, amount: 1n });
  const serving = await serveBlocks(t, [{ all: Array.from({ length: 200 }, (_, i) => give(`w${i}`)) }]);
  const listed = async () => {
    const { buyers, truncated } = await serving.json(`/api/token_first_buyers?token=${COIN}&limit=200`);
    return [(buyers as object[]).length, truncated];
  };
  assert.deepEqual(await listed(), [200, false]);
  serving.index.append([{ one: [give('w200')] }]);
  assert.deepEqual(await listed(), [200, true]);
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
    { address: address('twice'), balance: String(2n * huge), share: null, contract: null },
    { address: address('once'), balance: String(huge), share: null, contract: null },
    { address: address('ten'), balance: '10', share: null, contract: null },
    { address: address('nine'), balance: '9', share: null, contract: null },
  ]);
});

test('concentration leaves out excluded addresses; no share is known if holders exceed the supply', async (t) => {
  const move = { kind: 'erc20', token: 'coin' } as const;
  const give = (to: string, amount: bigint) => ({ ...move, from: 'zero', to, amount });
  const holders = Array.from({ length: 12 }, (_, i) => give(`holder ${i}`, 10n));
  const serving = await serveBlocks(t, [
    { a: [give('pool', 900n), give('burn', 40n), ...holders] },
    { b: [{ ...move, token: 'early', from: 'founder', to: 'alice', amount: 5n }] },
    { c: [{ ...move, token: 'early', from: 'zero', to: 'bob', amount: 4n }] },
  ]);
  const stats = async (query: string) => {
    const { supply, concentration } = await serving.json(`/api/token_stats?${query}`);
    return { supply, concentration };
  };
  assert.deepEqual(await stats(`token=${COIN}`), {
    supply: '1060',
    concentration: { top1: 0.849056603, top10: 0.96226415, top50: 1, top100: 1, holdersForHalf: 1 },
  });
  const without = `exclude=${address('pool')},${address('burn')},${address('nobody')}`;
  assert.deepEqual(await stats(`token=${COIN}&${without}`), {
    supply: '1060',
    concentration: { top1: 0.083333333, top10: 0.833333333, top50: 1, top100: 1, holdersForHalf: 6 },
  });
  assert.deepEqual(await stats(`token=${address('early')}`), { supply: '4', concentration: null });
  const shares = async (query: string, list: string) => {
    const rows = (await serving.json(query))[list];
    return Array.isArray(rows) ? rows.map(({ balance, share }) => [balance, share]) : [];
  };
  assert.deepEqual(await shares(`/api/token_holders?token=${address('early')}`, 'holders'), [
    ['5', null],
    ['4', null],
  ]);
  assert.deepEqual(await shares(`/api/wallet_tokens?address=${address('bob')}`, 'tokens'), [['4', null]]);
  const { summary } = await serving.json(`/api/token_launch?token=${address('early')}`);
  assert.equal(Object(summary).supplyShare, null);
});

test('holders known to be contracts are left out unless they are wanted, also between pages', async (t) => {
  const give = (to: string, amount: bigint) =>
    ({ kind: 'erc20', token: 'coin', from: 'zero', to, amount }) as const;
  const names = ['pool', 'alice', 'vault', 'bob', 'carol', 'safe'];
  const index = createIndex(t);
  index.append([{ a: names.map((name, i) => give(name, BigInt(100 - i))) }]);
  const serving = await serve(t, { index });
  const page = async (query: string) => {
    const { holders, nextCursor, left_out } = await serving.json(`/api/token_holders?token=${COIN}&${query}`);
    assert.ok(Array.isArray(holders));
    return { of: holders.map((holder) => [holder.address, holder.contract]), nextCursor, left_out };
  };
  const found = (list: [string, boolean | null][]) => list.map(([name, code]) => [address(name), code]);
  const unknown = names.map((name): [string, null] => [name, null]);
  assert.deepEqual(await page(''), { of: found(unknown), nextCursor: null, left_out: 0 });
  const ids = new Map(
    index
      .reader(t)
      .prepare<[], [string, number]>("SELECT '0x' || lower(hex(address)), id FROM wallets")
      .raw()
      .all(),
  );
  const code = (name: string, contract: boolean): [number, boolean] => [
    ids.get(address(name)) ?? 0,
    contract,
  ];
  index.writer.saveCode(
    new Map([code('pool', true), code('vault', true), code('safe', true), code('alice', false)]),
    1,
  );
  const first = await page('limit=2');
  assert.deepEqual(
    first.of,
    found([
      ['alice', false],
      ['bob', null],
    ]),
  );
  assert.equal(first.left_out, 2);
  assert.deepEqual(await page(`limit=2&cursor=${first.nextCursor}`), {
    of: found([['carol', null]]),
    nextCursor: null,
    left_out: 1,
  });
  assert.deepEqual((await page('include_contracts=true&limit=1')).of, found([['pool', true]]));
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
    { address: address('bob'), balance: '2', share: 0.666666666, contract: null },
    { address: address('alice'), balance: '1', share: 0.333333333, contract: null },
  ]);
  assert.deepEqual(await holders('items'), [
    { address: address('alice'), balance: '12', share: 1, contract: null },
  ]);
});

test('token_transfers of an older index ends where its histories end, and says so', async (t) => {
  const index = createIndex(t);
  const moves = (count: number) =>
    Array.from({ length: count }, () => ({
      kind: 'erc20' as const,
      token: 'coin',
      from: 'alice',
      to: 'bob',
    }));
  index.append([{ a: moves(2) }, { b: moves(2) }, { c: moves(2) }, {}]);
  forgetDerived(index.path);
  const serving = await serve(t, { index });
  const listed = async () => {
    const { transfers, completeToBlock } = await serving.json(`/api/token_transfers?token=${COIN}`);
    assert.ok(Array.isArray(transfers));
    return { ids: transfers.map(({ id }) => id), completeToBlock };
  };
  assert.deepEqual(await listed(), { ids: [], completeToBlock: null });
  index.writer.deriveStep(3);
  assert.deepEqual(await listed(), { ids: [2, 1], completeToBlock: 1 });
  index.writer.deriveStep(3);
  assert.deepEqual(await listed(), { ids: [6, 5, 4, 3, 2, 1], completeToBlock: 4 });
});

/** The answer of each endpoint about an address without transfers. */
const NOTHING: Record<string, object> = {
  [`token_first_buyers?token=${COIN}`]: {
    token: COIN,
    buyers: [],
    truncated: false,
    nextCursor: null,
    count: 0,
  },
  [`token_stats?token=${COIN}`]: {
    token: COIN,
    name: null,
    symbol: null,
    decimals: null,
    type: null,
    transferCount: 0,
    holderCount: 0,
    uniqueWallets: 0,
    supply: null,
    minted: null,
    burned: null,
    truncated: false,
    concentration: null,
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
    left_out: 0,
  },
  [`token_transfers?token=${COIN}`]: {
    token: COIN,
    transfers: [],
    nextCursor: null,
    count: 0,
    completeToBlock: 1,
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
