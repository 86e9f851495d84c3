import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthBatch, TRANSFERS_PER_BLOCK } from '../../../scripts/bench/setup/growth-chain.ts';
import {
  addressOf,
  GROWTH_CONTRACTS,
  PoolKind,
  poolOf,
  STABLE_POOLS,
} from '../../../scripts/bench/setup/growth-parties.ts';
import { bytesToBigInt, bytesToDigits, bytesToHex } from '../../../src/lib/hex.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { packedHash, packedValue } from '../../../src/model/block-batch.ts';
import { movesOne } from '../../../src/model/transfer-kind.ts';
import { type CountedTransfer, TradeCounter } from '../../support/chain/trade-counter.ts';

/** Each transfer as text, independent of its batch. */
function transfersOf(batch: BlockBatch): string[] {
  const address = (i: number) =>
    i < 0 ? 'native' : bytesToDigits(batch.addresses.slice(i * 20, (i + 1) * 20));
  return Array.from({ length: batch.transferCount }, (_, i) =>
    [
      batch.kind[i],
      bytesToDigits(packedHash(batch.txHashes, batch.tx[i]!)),
      address(batch.from[i]!),
      address(batch.to[i]!),
      address(batch.token[i]!),
      batch.logIndex[i],
      bytesToDigits(packedValue(batch.amounts, batch.amountEnd, i)),
      bytesToDigits(packedValue(batch.tokenNumbers, batch.tokenNumberEnd, i)),
    ].join(' '),
  );
}

test('a block of the growing chain is the same in any batch, so that a run can be resumed', () => {
  const whole = growthBatch(400_000, 6);
  const parts = [growthBatch(400_000, 1), growthBatch(400_001, 3), growthBatch(400_004, 2)];
  assert.deepEqual(parts.flatMap(transfersOf), transfersOf(whole));
  assert.deepEqual(parts.flatMap(({ hash }) => bytesToDigits(hash)).join(''), bytesToDigits(whole.hash));
  assert.deepEqual(packedHash(parts[1]!.parent, 0), packedHash(parts[0]!.hash, 0));
});

test('the growing chain has as many new wallets and tokens as real ones', () => {
  const batch = growthBatch(1, 200);
  const transfers = 200 * TRANSFERS_PER_BLOCK;
  assert.equal(batch.transferCount, transfers);
  const perWallet = transfers / (batch.addresses.length / 20);
  assert.ok(perWallet > 7 && perWallet < 9.5, `${perWallet} transfers per wallet`);
  const erc20 = batch.kind.filter((kind) => kind === 1).length / transfers;
  assert.ok(erc20 > 0.58 && erc20 < 0.62, `${erc20} of them ERC-20`);
});

const POOL_KINDS = Object.values(PoolKind);

/** Each transfer, for counting trades. */
function countedTransfers(batch: BlockBatch): CountedTransfer[] {
  const address = (i: number) => bytesToHex(batch.addresses.subarray(i * 20, (i + 1) * 20));
  return Array.from({ length: batch.transferCount }, (_, i) => {
    const [kind, token] = [batch.kind[i] ?? 0, batch.token[i] ?? -1];
    return {
      tx: String(batch.tx[i]),
      kind,
      from: address(batch.from[i] ?? 0),
      to: address(batch.to[i] ?? 0),
      token: token < 0 ? null : address(token),
      amount: movesOne(kind) ? 1n : bytesToBigInt(packedValue(batch.amounts, batch.amountEnd, i)),
      tokenId: bytesToBigInt(packedValue(batch.tokenNumbers, batch.tokenNumberEnd, i)),
    };
  });
}

test('the growing chain has as many buys and sells as real ones, half of them of pools', () => {
  const first = 4_001;
  const tokens = Array.from({ length: 800 }, (_, token) => token);
  const pools = [
    ...STABLE_POOLS,
    ...tokens.flatMap((token) => POOL_KINDS.map((kind) => poolOf(token, kind))),
  ];
  const { wrapped, stable } = GROWTH_CONTRACTS;
  const counter = new TradeCounter(
    { wrapped, stable },
    pools.map((pool) => bytesToHex(addressOf(pool))),
  );
  for (let block = 0; block < 120; block += 4) counter.add(countedTransfers(growthBatch(first + block, 4)));
  const { transfers, twoSided, ofPools, buy, sell, rows, swap, mixed } = counter.counts;
  const within = (name: string, value: number, [low, high]: [number, number]) =>
    assert.ok(value >= low && value <= high, `${name}: ${value}`);
  within('buys and sells per transfer', (buy + sell) / transfers, [0.15, 0.18]);
  within('new rows per transfer', rows / transfers, [0.075, 0.12]);
  within('share of pools', ofPools / twoSided, [0.42, 0.55]);
  within('buys against sells', buy / sell, [0.9, 1.1]);
  for (const [name, count] of Object.entries({ swap, mixed })) assert.ok(count > 0, `no ${name}`);
});
