import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthBatch, TRANSFERS_PER_BLOCK } from '../../../scripts/bench/setup/growth-chain.ts';
import { bytesToDigits } from '../../../src/lib/hex.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { packedHash, packedValue } from '../../../src/model/block-batch.ts';

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
