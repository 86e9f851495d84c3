/** Transactions in words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleTrade } from '../../src/api/trade-record.ts';
import { examplePlainTransfer } from '../../src/api/transfer-record.ts';
import type { Transfer } from '../../src/pages/client/answers.ts';
import { plainText, sentencesOf, type Transaction } from '../../src/pages/explorer/transaction/sentences.ts';
import { shortHex } from '../../src/pages/ui/format.ts';
import type { KnownName } from '../../src/pages/ui/known-names.ts';

const ALICE = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b0'.repeat(20)}`;
const POOL = `0x${'70'.repeat(20)}`;
/** A contract that nobody knows as one. */
const SHOP = `0x${'5b'.repeat(20)}`;
const MEME = `0x${'3e'.repeat(20)}`;
const ZERO = `0x${'0'.repeat(40)}`;

const name = (known: Partial<KnownName>): KnownName => ({
  label: null,
  symbol: null,
  decimals: null,
  type: null,
  contract: null,
  ...known,
});
const NAMES = new Map([
  [ALICE, name({ label: { name: 'Alice', category: 'person', source: 'test' } })],
  [BOB, name({ label: { name: 'Bob', category: 'person', source: 'test' } })],
  [POOL, name({ contract: true, label: { name: 'Pool', category: 'dex', source: 'test' } })],
  [MEME, name({ symbol: 'MEME', decimals: 6, type: 'erc20', contract: true })],
]);

const BASE: Transaction = {
  txHash: examplePlainTransfer.txHash,
  status: 'succeeded',
  blockNumber: 1,
  blockHash: examplePlainTransfer.txHash,
  timestamp: examplePlainTransfer.timestamp,
  from: ALICE,
  to: BOB,
  createdContract: null,
  value: '5',
  valueWei: '5000000000000000000',
  fee: null,
  feeWei: null,
  gasUsed: null,
  gasLimit: null,
  gasPriceWei: null,
  maxFeePerGasWei: null,
  maxPriorityFeePerGasWei: null,
  nonce: null,
  type: null,
  method: null,
  calls: null,
  callsTruncated: false,
  input: '0x',
  inputBytes: 0,
  events: [],
  eventCount: 0,
  failure: null,
  trades: [],
  tradesReason: null,
  historicalCoverageStartBlock: 0,
};

type Changes = { [K in keyof Transaction]?: unknown };

const wordsOf = (changes: Changes, transfers: Partial<Transfer>[] | undefined = []) => {
  const moved = transfers.map((transfer) => ({ ...examplePlainTransfer, ...transfer }) as Transfer);
  const transaction = { ...BASE, ...changes } as Transaction;
  return sentencesOf(transaction, moved, NAMES, 'MON').map((sentence) => plainText(sentence, NAMES));
};

const meme = { tokenAddress: MEME, symbol: 'MEME', decimals: 6, tokenIds: null, count: null };
const mon = { tokenAddress: null, symbol: 'MON', decimals: 18, tokenIds: null, count: null };
const trade = (wallet: string, kind: string, given: object[], received: object[], more = {}) => ({
  ...exampleTrade,
  ...{ wallet, kind, given, received, ...more },
});
const coins = (from: string, to: string, amount = '5000000000000000000') => ({
  ...{ from, to, amount, tokenAddress: null, tokenId: null, symbol: 'MON', decimals: 18 },
});
const tokens = (from: string, to: string, amount = '3000000') => ({
  ...{ from, to, amount, tokenAddress: MEME, tokenId: null, symbol: 'MEME', decimals: 6 },
});
const call = (signature: string, args: string[] | null) => ({
  selector: '0x12345678',
  name: signature.split('(')[0],
  signature,
  args: args?.map((value) => ({ name: '', type: '', value })) ?? null,
});

test('a trade is told for its sender, or for the wallets that are no contracts', () => {
  const paid = { ...mon, amount: '3000000000000000000' };
  const got = { ...meme, amount: '12000000' };
  const bought = trade(ALICE, 'buy', [paid], [got]);
  const mirror = trade(POOL, 'sell', [got], [paid]);
  assert.deepEqual(wordsOf({ trades: [mirror, bought] }), ['Alice bought 12 MEME for 3 MON']);
  assert.deepEqual(wordsOf({ from: BOB, trades: [mirror, bought] }), ['Alice bought 12 MEME for 3 MON']);
  assert.deepEqual(wordsOf({ from: BOB, trades: [mirror] }), ['Pool sold 12 MEME for 3 MON']);
  const purchase = [coins(ALICE, SHOP, '3000000000000000000'), tokens(SHOP, BOB, '12000000')];
  const sale = { to: SHOP, trades: [trade(SHOP, 'sell', [got], [paid])] };
  const forOthers = [`Alice sent 3 MON to ${shortHex(SHOP)}`, `${shortHex(SHOP)} transferred 12 MEME to Bob`];
  assert.deepEqual(wordsOf({ ...sale, valueWei: paid.amount }, purchase), forOthers);
  assert.deepEqual(wordsOf({ ...sale, valueWei: '0' }, purchase), forOthers);
  assert.deepEqual(wordsOf({ ...sale, valueWei: '0' }, []), [`${shortHex(SHOP)} sold 12 MEME for 3 MON`]);
  assert.deepEqual(wordsOf({ trades: [trade(ALICE, 'swap', [got], [{ ...meme, amount: '1' }])] }), [
    'Alice swapped 12 MEME for 0.000001 MEME',
  ]);
  assert.deepEqual(wordsOf({ trades: [trade(ALICE, 'mixed', [paid, got], [got], { uncertain: true })] }), [
    'Alice gave 3 MON and 12 MEME and got 12 MEME (not certain: transfers of its block are missing)',
  ]);
  const nft = { ...meme, symbol: 'ART', decimals: 0, amount: '1', tokenIds: ['7'], count: 1 };
  assert.deepEqual(wordsOf({ trades: [trade(ALICE, 'buy', [paid], [nft])] }), [
    'Alice bought ART #7 for 3 MON',
  ]);
});

test('without trades, its transfers are told, of which three', () => {
  assert.deepEqual(wordsOf({}, [coins(ALICE, BOB)]), ['Alice sent 5 MON to Bob']);
  assert.deepEqual(wordsOf({}, [tokens(ALICE, BOB)]), ['Alice transferred 3 MEME to Bob']);
  assert.deepEqual(wordsOf({}, [tokens(ZERO, BOB)]), ['Bob got 3 MEME, newly minted']);
  assert.deepEqual(wordsOf({}, [tokens(ALICE, ZERO)]), ['Alice burned 3 MEME']);
  assert.deepEqual(wordsOf({}, [coins(ALICE, ALICE)]), ['Alice sent itself 5 MON']);
  assert.deepEqual(wordsOf({}, [{ ...tokens(ALICE, BOB, '2'), tokenId: '9' }]), [
    'Alice transferred 2 × MEME #9 to Bob',
  ]);
  assert.deepEqual(wordsOf({}, Array(5).fill(coins(ALICE, BOB))).slice(2), [
    'Alice sent 5 MON to Bob',
    'and 2 more, listed below',
  ]);
});

test('without transfers, its call is told', () => {
  const method = call('vote(uint256)', ['1']);
  assert.deepEqual(wordsOf({ method }, [tokens(ALICE, BOB, '0')]), ['Alice called vote of Bob']);
  assert.deepEqual(wordsOf({ method: { ...method, name: null } }), ['Alice called 0x12345678 of Bob']);
  assert.deepEqual(wordsOf({ to: null, createdContract: POOL }, [coins(ALICE, POOL)]), [
    'Alice created the contract Pool',
    'Alice sent 5 MON to Pool',
  ]);
  const calls = ['approve', 'swap', null, 'sweep', 'wrap', 'burn'].map((name) => ({
    depth: 1,
    method: name === null ? null : call(`${name}()`, []),
  }));
  assert.deepEqual(wordsOf({ method, calls }), [
    'Alice called vote of Bob: approve, swap, a payment, sweep, wrap and more',
  ]);
  assert.deepEqual(wordsOf({ method, calls: calls.slice(0, 2) }), [
    'Alice called vote of Bob: approve, swap',
  ]);
  assert.deepEqual(wordsOf({}, []), ['Alice paid Bob']);
  assert.deepEqual(sentencesOf(BASE, undefined, NAMES, 'MON'), [], 'while its transfers are loaded');
});

test('an approval says who may spend how much', () => {
  const approve = (value: bigint) =>
    wordsOf({ to: MEME, method: call('approve(address,uint256)', [POOL, value.toString()]) });
  assert.deepEqual(approve(2_500_000n), ['Alice let Pool spend up to 2.5 MEME']);
  assert.deepEqual(approve(2n ** 256n - 1n), ['Alice let Pool spend any amount of its MEME']);
  assert.deepEqual(approve(0n), ['Alice let Pool spend no more of its MEME']);
  assert.deepEqual(wordsOf({ to: MEME, method: call('approve(address,uint256)', null) }), [
    'Alice called approve of MEME',
  ]);
});

test('what failed or is pending is not told as done', () => {
  const method = call('buy(uint256)', ['1']);
  assert.deepEqual(wordsOf({ status: 'failed', method }), ['Alice tried to call buy of Bob']);
  assert.deepEqual(wordsOf({ status: 'failed', to: null }), ['Alice tried to create a contract']);
  assert.deepEqual(wordsOf({ status: 'pending' }), ['Alice is about to send 5 MON to Bob']);
  assert.deepEqual(wordsOf({ status: 'pending', method }), ['Alice is about to call buy of Bob']);
  assert.deepEqual(wordsOf({ from: null, status: 'unknown' }, [coins(ALICE, BOB)]), [
    'Alice sent 5 MON to Bob',
  ]);
});
