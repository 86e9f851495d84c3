/** Each threshold of the labels, at and next to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  confidenceOf,
  type Label,
  labelsOf,
  type WalletStats,
} from '../../src/api/endpoints/wallet-label.ts';

const MON = 10n ** 18n;

/** A wallet to which no label applies. */
const PLAIN: WalletStats = {
  transactions: 100,
  tokens: 0,
  tokenTransfers: 1,
  internalReceived: 0,
  receivedWei: 0n,
  sentWei: 0n,
  firstBlock: 1,
  lastBlock: 100_000,
  ageBlocks: 100_000,
};

const CASES: [what: string, numbers: Partial<WalletStats>, labels: Label[]][] = [
  ['no criterion', {}, ['regular']],
  ['999 blocks old and 19 transactions', { ageBlocks: 999, transactions: 19 }, ['fresh']],
  ['1,000 blocks old', { ageBlocks: 1_000, transactions: 19 }, ['regular']],
  ['20 transactions', { ageBlocks: 999, transactions: 20 }, ['regular']],
  ['10,000 coins received', { receivedWei: 10_000n * MON }, ['regular']],
  ['a wei more received', { receivedWei: 10_000n * MON + 1n }, ['whale']],
  ['a wei more sent', { sentWei: 10_000n * MON + 1n }, ['whale']],
  ['500 transactions in 999 blocks', { transactions: 500, lastBlock: 999 }, ['bot_likely']],
  ['500 transactions in 1,000 blocks', { transactions: 500, lastBlock: 1_000 }, ['regular']],
  ['499 transactions in one block', { transactions: 499, lastBlock: 1 }, ['regular']],
  ['19 tokens', { tokens: 19 }, ['regular']],
  ['20 tokens', { tokens: 20 }, ['trader']],
  ['10 internal transfers, no token', { internalReceived: 10, tokenTransfers: 0 }, ['contract_likely']],
  ['9 internal transfers, no token', { internalReceived: 9, tokenTransfers: 0 }, ['regular']],
  ['10 internal transfers, one token transfer', { internalReceived: 10 }, ['regular']],
  ['5,000 transactions', { transactions: 5_000 }, ['regular']],
  ['5,001 transactions', { transactions: 5_001 }, ['high_activity']],
  ['one token, 49 transactions', { tokens: 1, transactions: 49 }, ['casual']],
  ['3 tokens, 49 transactions', { tokens: 3, transactions: 49 }, ['casual']],
  ['4 tokens', { tokens: 4, transactions: 49 }, ['regular']],
  ['no token', { tokens: 0, transactions: 49 }, ['regular']],
  ['50 transactions', { tokens: 1, transactions: 50 }, ['regular']],
  [
    'several criteria',
    { transactions: 6_000, lastBlock: 6_000, tokens: 30, receivedWei: 20_000n * MON },
    ['whale', 'bot_likely', 'trader', 'high_activity'],
  ],
];

for (const [what, numbers, labels] of CASES) {
  test(`a wallet with ${what} is ${labels.join(', ')}`, () => {
    assert.deepEqual(labelsOf({ ...PLAIN, ...numbers }), labels);
  });
}

test('confidence grows with the number of transactions', () => {
  assert.deepEqual([1, 9, 10, 99, 100, 1e6].map(confidenceOf), [
    'low',
    'low',
    'medium',
    'medium',
    'high',
    'high',
  ]);
});
