import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTransfer } from '../../../src/api/fields.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import type { EventRow } from '../../../src/query/events.ts';
import { transferJson } from '../../../src/streams/transfers/event-json.ts';
import { formatDuration, signalJson } from '../../../src/streams/transfers/signal-json.ts';
import { type Direction, sideSignal } from '../../../src/streams/transfers/signals.ts';
import { CHAIN, eventOf } from '../filters.ts';

const FROM = 'aa'.repeat(20);
const TO = 'bb'.repeat(20);

const NATIVE: EventRow = {
  ...sampleTransfer,
  id: 7,
  kind: TransferKind.nativeInternal,
  amount: '14D1120D7B160000',
  txHash: 'cd'.repeat(32),
  blockNumber: 12,
  timestamp: 1_700_000_000,
  from: FROM,
  to: TO,
  eventIndex: 2,
  blockHash: 'ef'.repeat(32),
};
const NFT: EventRow = {
  ...NATIVE,
  kind: TransferKind.erc721,
  amount: '',
  tokenNumber: '2A',
  symbol: 'A"\n\u2028',
  decimals: 0,
  token: 'cc'.repeat(20),
  logIndex: 3,
};

/** The push for one side of a transfer that is its whole transaction. */
function signal(row: EventRow, direction: Direction, now: number, removed = false): string {
  return signalJson(eventOf(row, removed), sideSignal(row, direction), now);
}

test('a native transfer has the specified fields and the agreed additions', () => {
  assert.deepEqual(JSON.parse(transferJson(NATIVE, 'in', false, CHAIN)), {
    id: 7,
    blockNumber: 12,
    blockHash: `0x${'ef'.repeat(32)}`,
    txHash: `0x${'cd'.repeat(32)}`,
    eventIndex: 2,
    assetType: 'native',
    transferType: 'native_internal',
    tokenAddress: null,
    tokenId: null,
    symbol: 'MON',
    decimals: 18,
    from: `0x${FROM}`,
    to: `0x${TO}`,
    amount: '1500000000000000000',
    direction: 'in',
    timestamp: '2023-11-14T22:13:20.000Z',
    logIndex: null,
  });
});

test('a token transfer has its contract, token id and escaped symbol; a removed one says so', () => {
  const payload = JSON.parse(transferJson(NFT, 'out', true, CHAIN));
  const { assetType, transferType, tokenAddress, tokenId, symbol, decimals, amount, logIndex, removed } =
    payload;
  assert.deepEqual(
    { assetType, transferType, tokenAddress, tokenId, symbol, decimals, amount, logIndex, removed },
    {
      assetType: 'erc721',
      transferType: 'erc721',
      tokenAddress: `0x${'cc'.repeat(20)}`,
      tokenId: '42',
      symbol: 'A"\n\u2028',
      decimals: 0,
      amount: '1',
      logIndex: 3,
      removed: true,
    },
  );
});

test('symbol and decimals of an unknown token are null in transfers and signals', () => {
  const unknown = { ...NFT, symbol: null, decimals: null };
  for (const text of [transferJson(unknown, 'out', false, CHAIN), signal(unknown, 'out', 0)]) {
    const { symbol, decimals } = JSON.parse(text);
    assert.deepEqual([symbol, decimals], [null, null]);
  }
});

test('a removal has the key of the transfer it removes', () => {
  const key = (text: string) => {
    const { blockHash, txHash, eventIndex } = JSON.parse(text);
    return [blockHash, txHash, eventIndex];
  };
  for (const removed of [false, true]) {
    const expected = [`0x${'ef'.repeat(32)}`, `0x${'cd'.repeat(32)}`, 2];
    assert.deepEqual(key(transferJson(NFT, 'out', removed, CHAIN)), expected);
    assert.deepEqual(key(signal(NFT, 'out', 0, removed)), expected);
  }
});

test('a native signal has its value in wei and coins, and its age', () => {
  const now = 1_700_000_001_250;
  assert.deepEqual(JSON.parse(signal(NATIVE, 'in', now)), {
    id: 7,
    event: 'wallet_funded',
    direction: 'in',
    wallet: `0x${TO}`,
    from: `0x${FROM}`,
    to: `0x${TO}`,
    tokenAddress: null,
    tokenId: null,
    symbol: 'MON',
    decimals: 18,
    amount: null,
    valueWei: '1500000000000000000',
    value_mon: '1.5',
    txHash: `0x${'cd'.repeat(32)}`,
    blockNumber: 12,
    blockHash: `0x${'ef'.repeat(32)}`,
    logIndex: null,
    eventIndex: 2,
    timestamp: '2023-11-14T22:13:20.000Z',
    transferType: 'native_internal',
    chainId: 143,
    txFrom: null,
    txTo: null,
    txFromReason: 'nobody knows',
    initiated: null,
    leg: null,
    legs: null,
    received_at: '2023-11-14T22:13:21.250Z',
    received_at_ms: now,
    funding_age_ms: 1_250,
    funding_age: '1s',
  });
});

test('a token signal has an amount and no value; each side has its own event', () => {
  const sold = JSON.parse(signal(NFT, 'out', 0));
  assert.deepEqual(
    [sold.event, sold.wallet, sold.amount, sold.decimals, sold.valueWei, sold.value_mon, sold.tokenId],
    ['wallet_token_sell', `0x${FROM}`, '1', 0, null, null, '42'],
  );
  assert.equal(JSON.parse(signal(NFT, 'in', 0)).event, 'wallet_token_buy');
  assert.equal(JSON.parse(signal(NATIVE, 'out', 0)).event, 'wallet_native_out');
});

test('a block timestamp in the future does not give a negative age', () => {
  assert.equal(JSON.parse(signal(NATIVE, 'in', 0)).funding_age_ms, 0);
});

test('durations show their two largest units', () => {
  const cases: [number, string][] = [
    [0, '0s'],
    [999, '0s'],
    [1_000, '1s'],
    [59_999, '59s'],
    [60_000, '1m 0s'],
    [125_000, '2m 5s'],
    [3_600_000, '1h 0m'],
    [86_399_000, '23h 59m'],
    [93_600_000, '1d 2h'],
  ];
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text);
});

test('labels stand beside the addresses that have one, in signals and wallet_transfers', () => {
  const exchange = { name: 'Big "Exchange"', category: 'exchange' as const, source: 'test' };
  const labels = {
    isEmpty: false,
    of: (address: string) => (address === `0x${TO}` || address === `0x${NFT.token}` ? exchange : undefined),
  };
  const chainInfo = { ...CHAIN, labels };
  const labelsOf = (json: string) =>
    Object.entries(JSON.parse(json)).flatMap(([member, value]) => {
      if (!member.endsWith('Label')) return [];
      assert.deepEqual(value, exchange);
      return [member];
    });
  assert.deepEqual(labelsOf(transferJson(NATIVE, 'in', false, chainInfo)), ['toLabel']);
  assert.deepEqual(labelsOf(transferJson(NFT, 'in', true, chainInfo)), ['toLabel', 'tokenAddressLabel']);
  assert.deepEqual(
    labelsOf(transferJson(NFT, 'in', true, { ...chainInfo, labels: { ...labels, isEmpty: true } })),
    [],
  );
  const event = eventOf(NFT, false, { chainInfo });
  assert.deepEqual(labelsOf(signalJson(event, sideSignal(NFT, 'in'), 0)), [
    'walletLabel',
    'toLabel',
    'tokenAddressLabel',
  ]);
});
