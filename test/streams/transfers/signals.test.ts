/** What signals report about a transaction, and which of them a filter selects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTransfer } from '../../../src/api/fields.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import type { EventRow } from '../../../src/query/events.ts';
import { UNREAD_TOKEN } from '../../../src/query/tokens.ts';
import { parseSignalFilter } from '../../../src/streams/transfers/parse-filter.ts';
import { signalRecord } from '../../../src/streams/transfers/signal-json.ts';
import { sideSignal, signalsOf } from '../../../src/streams/transfers/signals.ts';
import type { EventSource } from '../../../src/streams/transfers/transfer-event.ts';
import type { SignalFilter } from '../../../src/streams/transfers/transfer-filter.ts';
import { eventOf, signalFilter } from '../filters.ts';

const WALLET = 'aa'.repeat(20);
const ROUTER = 'bb'.repeat(20);
const ZERO = '00'.repeat(20);
const USDC = 'cc'.repeat(20);
const MEME = 'dd'.repeat(20);

function transfer(from: string, to: string, given: Partial<EventRow> = {}): EventRow {
  return {
    ...sampleTransfer,
    kind: given.token === undefined ? TransferKind.nativeDirect : TransferKind.erc20,
    amount: '64',
    from,
    to,
    ...given,
  };
}

/** The events of a transaction's transfers, in chain order. */
function transaction(transfers: EventRow[], source: Partial<EventSource> & { gap?: boolean } = {}) {
  const rows = transfers.map((row, eventIndex) => ({ ...row, id: eventIndex + 1, eventIndex }));
  return rows.map((row) => eventOf(row, false, { transfers: rows, ...source }));
}

/** The wallet pays 100 USDC and 1 wei, receives MEME in two legs, and 10 USDC back. */
function swap(source: Partial<EventSource> = {}) {
  const usdc = { token: USDC, symbol: 'USDC', decimals: 6 };
  const meme = { token: MEME, decimals: 6 };
  return transaction(
    [
      transfer(WALLET, ROUTER, { amount: '01' }),
      transfer(WALLET, ROUTER, usdc),
      transfer(ROUTER, WALLET, { ...meme, amount: '05' }),
      transfer(ROUTER, WALLET, { ...usdc, amount: '0A' }),
      transfer(ROUTER, WALLET, { ...meme, amount: '07' }),
      transfer(ROUTER, WALLET, { token: MEME, amount: '' }),
    ],
    source,
  );
}

type Record = { [member: string]: unknown };
const recordOf = (event: ReturnType<typeof eventOf>, direction: 'in' | 'out') =>
  signalRecord(event, sideSignal(event.row, direction), 0) as Record;

test('a buy and a sell report what the wallet gave and got on balance, and their leg', () => {
  const tokenFacts = (token: string) => ({
    symbol: token === USDC ? 'USDC' : null,
    decimals: 6,
    viewKind: null,
  });
  const events = swap({
    tokenFacts,
    partiesOf: () => ({ parties: { from: WALLET, to: ROUTER }, reason: null }),
  });
  const expected = {
    paid: [
      { tokenAddress: null, tokenId: null, amount: '1', symbol: 'MON', decimals: 18 },
      { tokenAddress: `0x${USDC}`, tokenId: null, amount: '90', symbol: 'USDC', decimals: 6 },
    ],
    received: [{ tokenAddress: `0x${MEME}`, tokenId: null, amount: '12', symbol: null, decimals: 6 }],
    paidCount: 2,
    receivedCount: 1,
    paidReason: null,
  };
  const { isBurn, ...sell } = recordOf(events[1]!, 'out');
  const { isMint, txFrom, txTo, txFromReason, ...buy } = recordOf(events[2]!, 'in');
  for (const record of [sell, buy]) {
    const { paid, received, paidCount, receivedCount, paidReason } = record;
    assert.deepEqual({ paid, received, paidCount, receivedCount, paidReason }, expected);
  }
  assert.deepEqual(
    [isMint, isBurn, txFrom, txTo, txFromReason],
    [false, false, `0x${WALLET}`, `0x${ROUTER}`, null],
  );
  const places = events.slice(0, 5).map((event) => {
    const { leg, legs } = recordOf(event, event.row.from === WALLET ? 'out' : 'in');
    return `${leg}/${legs}`;
  });
  assert.deepEqual(places, ['1/5', '2/5', '3/5', '4/5', '5/5'], 'the transfer of nothing is no leg');
});

test('what was paid is unknown where the logs of a token mix up amounts and ids', () => {
  const tokenFacts = (token: string) => ({
    ...UNREAD_TOKEN,
    viewKind: token === USDC ? TransferKind.erc721 : null,
  });
  const { paid, received, paidCount, receivedCount, paidReason } = recordOf(swap({ tokenFacts })[2]!, 'in');
  assert.deepEqual(
    { paid, received, paidCount, receivedCount, paidReason },
    {
      paid: null,
      received: null,
      paidCount: null,
      receivedCount: null,
      paidReason: `the logs of 0x${USDC} mix up amounts and ids`,
    },
  );
});

test('mints and burns are marked; the router’s legs are its own', () => {
  const [mint, burn] = transaction([
    transfer(ZERO, WALLET, { token: MEME }),
    transfer(ROUTER, ZERO, { token: MEME }),
  ]);
  assert.deepEqual([recordOf(mint!, 'in').isMint, recordOf(burn!, 'out').isBurn], [true, true]);
  assert.equal(recordOf(burn!, 'out').legs, 1);
});

test('sender and receiver of a direct transfer are known without a node call', () => {
  const [payment] = transaction([transfer(WALLET, ROUTER)], {
    partiesOf: () => assert.fail('the node is asked'),
  });
  const { txFrom, txTo } = recordOf(payment!, 'out');
  assert.deepEqual([txFrom, txTo], [`0x${WALLET}`, `0x${ROUTER}`]);
});

test('where native transfers may be missing, what was exchanged is null and the reason is given', () => {
  const [buy] = transaction([transfer(ROUTER, WALLET, { token: MEME })], { gap: true });
  const { paid, received, paidCount, receivedCount, paidReason, leg } = recordOf(buy!, 'in');
  assert.deepEqual([paid, received, paidCount, receivedCount, leg], [null, null, null, null, 1]);
  assert.equal(paidReason, 'transfers of block 4711 may be missing');
});

test('an unknown sender of the transaction is null, for a reason', () => {
  const [buy] = transaction([transfer(ROUTER, WALLET, { token: MEME })]);
  const { txFrom, txTo, txFromReason } = recordOf(buy!, 'in');
  assert.deepEqual([txFrom, txTo, txFromReason], [null, null, 'nobody knows']);
});

test('at most 100 assets are listed on each side, and all are counted', () => {
  const dust = Array.from({ length: 150 }, (_, i) =>
    transfer(ROUTER, WALLET, { token: i.toString(16).padStart(40, '0') }),
  );
  const events = transaction([transfer(WALLET, ROUTER), ...dust]);
  const { paid, received, paidCount, receivedCount } = recordOf(events[9]!, 'in');
  assert.ok(Array.isArray(paid) && Array.isArray(received));
  assert.deepEqual([paid.length, received.length, paidCount, receivedCount], [1, 100, 1, 150]);
});

/** The events of a filter for all transfers of a transaction. */
function eventsFor(given: Partial<SignalFilter>, events: ReturnType<typeof transaction>): string[] {
  const filter = signalFilter(given);
  return events.flatMap((event) => signalsOf(filter, event).map((signal) => signal.event));
}

test('purchasesOnly excludes buys without a payment; excludeMints excludes mints', () => {
  const wallets = new Set([WALLET]);
  const airdrop = transaction([transfer(ROUTER, WALLET, { token: MEME })]);
  const mint = transaction([transfer(ZERO, WALLET, { token: MEME }), transfer(WALLET, ROUTER)]);
  assert.deepEqual(eventsFor({ wallets }, airdrop), ['wallet_token_buy']);
  assert.deepEqual(eventsFor({ wallets, purchasesOnly: true }, airdrop), []);
  assert.deepEqual(eventsFor({ wallets, excludeMints: true }, airdrop), ['wallet_token_buy']);
  assert.deepEqual(eventsFor({ wallets, purchasesOnly: true }, mint), [
    'wallet_token_buy',
    'wallet_native_out',
  ]);
  assert.deepEqual(eventsFor({ wallets, excludeMints: true }, mint), ['wallet_native_out']);
  const gap = transaction([transfer(ROUTER, WALLET, { token: MEME })], { gap: true });
  assert.deepEqual(eventsFor({ wallets, purchasesOnly: true }, gap), ['wallet_token_buy'], 'unknown is yes');
});

test('purchasesOnly passes a buy only if the wallet gained the asset for something it gave, on balance', () => {
  const wallets = new Set([WALLET]);
  const purchases = (transfers: EventRow[], gap = false) =>
    eventsFor(
      { wallets, purchasesOnly: true, events: new Set(['wallet_token_buy']) },
      transaction(transfers, { gap }),
    ).length;
  const paysNative = transfer(WALLET, ROUTER);
  const refund = transfer(ROUTER, WALLET, { kind: TransferKind.nativeInternal });
  const meme = transfer(ROUTER, WALLET, { token: MEME });
  const usdcBack = transfer(ROUTER, WALLET, { token: USDC, amount: '0A' });
  assert.equal(
    eventsFor({ wallets, purchasesOnly: true }, swap()).filter((e) => e === 'wallet_token_buy').length,
    2,
  );
  assert.equal(
    purchases([transfer(WALLET, ROUTER, { token: USDC }), usdcBack]),
    0,
    'a refund is no purchase',
  );
  assert.equal(
    purchases([transfer(WALLET, ROUTER, { token: USDC }), usdcBack], true),
    0,
    'known without traces',
  );
  assert.equal(purchases([paysNative, meme, refund]), 0, 'all of the payment came back');
  assert.equal(purchases([paysNative, meme, transfer(WALLET, ROUTER, { token: MEME })]), 0, 'passed on');
  assert.equal(purchases([transfer(WALLET, ROUTER, { token: USDC }), meme]), 1, 'token for token');
  const nft = transfer(ROUTER, WALLET, { token: MEME, kind: TransferKind.erc721, amount: '' });
  assert.equal(purchases([paysNative, nft]), 1);
});

test('a transfer of a token to oneself is neither a buy nor a sell, and no leg', () => {
  const wallets = new Set([WALLET]);
  const events = transaction([
    transfer(WALLET, ROUTER),
    transfer(WALLET, WALLET, { token: MEME }),
    transfer(WALLET, WALLET),
  ]);
  assert.deepEqual(eventsFor({ wallets }, events), ['wallet_native_out', 'wallet_native_out']);
  assert.deepEqual([recordOf(events[0]!, 'out').legs, recordOf(events[2]!, 'out').leg], [2, 2]);
});

test('minMon bounds native events and minAmount those of its tokens', () => {
  const events = swap();
  const wallets = new Set([WALLET]);
  assert.equal(eventsFor({ wallets }, events).length, 5);
  const bounded = eventsFor({ wallets, minMon: 2n, minAmount: new Map([[MEME, 6n]]) }, events);
  assert.deepEqual(bounded, ['wallet_token_sell', 'wallet_token_buy', 'wallet_token_buy']);
});

test('whale transfers and created wallets come only to filters that name them', () => {
  const isFirst: EventSource['isFirst'] = (_row, direction) => direction === 'in';
  const events = transaction(
    [transfer(WALLET, ROUTER, { amount: '64' }), transfer(WALLET, ROUTER, { token: MEME, amount: '' })],
    { isFirst },
  );
  assert.deepEqual(eventsFor({}, events), ['wallet_native_out', 'wallet_funded']);
  assert.deepEqual(eventsFor({ events: new Set(['whale_transfer']), minMon: 100n }, events), [
    'whale_transfer',
  ]);
  assert.deepEqual(eventsFor({ events: new Set(['whale_transfer']), minMon: 101n }, events), []);
  assert.deepEqual(
    eventsFor({ events: new Set(['wallet_created']) }, events),
    ['wallet_created', 'wallet_created'],
    'a transfer of nothing is activity too',
  );
  const created = { event: 'wallet_created', direction: 'in' } as const;
  const [funding, token] = events.map((event) => signalRecord(event, created, 0) as Record);
  assert.deepEqual([funding?.wallet, funding?.funder], [`0x${ROUTER}`, `0x${WALLET}`]);
  assert.equal(token?.funder, null);
});

test('the first transfer of a token creates it, for its receiver, also with an amount of nothing', () => {
  const transfers = [
    transfer(WALLET, ROUTER),
    transfer(ZERO, ROUTER, { token: MEME, amount: '' }),
    transfer(ROUTER, WALLET, { token: MEME }),
  ];
  const source: Partial<EventSource> = {
    isFirstOfToken: ({ id }) => id === 2,
    partiesOf: () => ({ parties: { from: WALLET, to: ROUTER }, reason: null }),
  };
  const events = transaction(transfers, source);
  const created = { events: new Set(['token_created'] as const) };
  const found = (filter: Partial<SignalFilter>) =>
    events.map((event) => signalsOf(signalFilter({ ...created, ...filter }), event).length);
  assert.deepEqual(found({}), [0, 1, 0]);
  assert.deepEqual(found({ wallets: new Set([ROUTER]) }), [0, 1, 0]);
  assert.deepEqual(
    found({ wallets: new Set([WALLET]) }),
    [0, 0, 0],
    'the creator is no side of the transfer',
  );
  assert.deepEqual(found({ tokens: new Set([USDC]) }), [0, 0, 0]);
  const [signal] = signalsOf(signalFilter(created), events[1]!);
  const { event, wallet, creator, tokenAddress, amount, leg } = signalRecord(events[1]!, signal!, 0);
  assert.deepEqual(
    [event, wallet, creator, tokenAddress, amount, leg],
    ['token_created', `0x${ROUTER}`, `0x${WALLET}`, `0x${MEME}`, '0', null],
  );
  const removed = events[1]!.asRemoved();
  assert.equal(signalsOf(signalFilter(created), removed).length, 1, 'its removal is one too');
});

test('filters of signals are parsed strictly', () => {
  const address = `0x${'Ab'.repeat(20)}`;
  const list = new Set([WALLET]);
  const parsed = parseSignalFilter(
    {
      wallets: 'list:whales',
      events: ['whale_transfer'],
      minMon: '1.5',
      minAmount: { [address]: '1000' },
      lastSeen: { blockNumber: '0x10', blockHash: `0x${'AB'.repeat(32)}` },
    },
    (name) => (name === 'whales' ? list : undefined),
  );
  assert.equal(parsed.wallets, list, 'the list itself, not a copy');
  assert.equal(parsed.minMon, 15n * 10n ** 17n);
  assert.deepEqual([...parsed.minAmount], [['ab'.repeat(20), 1_000n]]);
  assert.deepEqual(parsed.lastSeen, { number: 16, hash: 'ab'.repeat(32), mark: null });
  const refused: [unknown, RegExp][] = [
    [{ wallets: 'list:none' }, /there is no list "none"/],
    [{ wallets: 'whales' }, /list:<name>/],
    [{ events: ['whale_transfer'] }, /needs minMon/],
    [{ minMon: -1 }, /minMon/],
    [{ minMon: 'many' }, /minMon/],
    [{ minAmount: { [address]: 5 } }, /integer in base units/],
    [{ minAmount: { token: '5' } }, /must be an address/],
    [{ minAmount: [] }, /minAmount/],
    [{ excludeMints: 'yes' }, /excludeMints/],
    [{ lastSeen: 5 }, /lastSeen/],
    [{ lastSeen: { blockNumber: 5, blockHash: '0x12' } }, /lastSeen/],
    [{ lastSeen: { blockNumber: -5, blockHash: `0x${'ab'.repeat(32)}` } }, /lastSeen.blockNumber/],
  ];
  for (const [filter, message] of refused) assert.throws(() => parseSignalFilter(filter), { message });
});
