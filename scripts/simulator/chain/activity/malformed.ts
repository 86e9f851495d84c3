import type { Hex } from '../../../../src/lib/hex.ts';
import { EVENT, encode, MAX_UINT256, topic } from '../abi.ts';
import type { Transaction, TransactionLog } from '../transaction.ts';
import type { World } from '../world.ts';

type Shape = Pick<TransactionLog, 'topics' | 'data'>;

/** One to three malformed logs, which must not be counted. */
export function emitMalformedLogs(world: World): Transaction {
  const { prng, actors } = world;
  const contract = prng.chance(0.5) ? prng.pickZipf(actors.others) : prng.pickZipf(actors.erc20).address;
  const shapes = malformedShapes(topic(actors.wallet()), topic(actors.wallet()));
  const transaction = world.begin(actors.wallet(), contract, 0n, '0xbadc0de0').pay();
  for (let logs = 1 + prng.below(3); logs > 0; logs--) {
    const { topics, data } = prng.pick(shapes);
    transaction.emit(contract, topics, data);
  }
  return transaction;
}

function malformedShapes(a: Hex, b: Hex): Shape[] {
  const { transfer, transferSingle, transferBatch } = EVENT;
  const batch = [transferBatch, a, a, b];
  return [
    { topics: [transfer], data: '0x' },
    { topics: [transfer, a], data: encode('0x', 5n) },
    { topics: [transfer, a, b], data: '0x' },
    { topics: [transfer, a, b], data: `0x${'ff'.repeat(31)}` },
    { topics: [], data: encode('0x', 1n) },
    { topics: [transferSingle, a, a, b], data: encode('0x', 7n) },
    { topics: [transferSingle, a], data: '0x' },
    // One id, two amounts.
    { topics: batch, data: encode('0x', 64n, 128n, 1n, 3n, 2n, 5n, 6n) },
    // Offsets far beyond the end.
    { topics: batch, data: encode('0x', MAX_UINT256, MAX_UINT256) },
    { topics: batch, data: '0x' },
    // A length that no memory could hold.
    { topics: batch, data: encode('0x', 64n, 96n, 1n << 200n, 0n) },
  ];
}
