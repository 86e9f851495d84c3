/** Transactions of ERC-1155 tokens: single transfers and batches. */

import type { Hex } from '../../../../src/lib/hex.ts';
import { ZERO_ADDRESS } from '../../../../src/model/address.ts';
import { EVENT, encode, SELECTOR, topic } from '../abi.ts';
import type { Erc1155Token } from '../actors.ts';
import { randomPortion } from '../amounts.ts';
import type { Transaction } from '../transaction.ts';
import type { World } from '../world.ts';

/** Ids of a token are below this. */
const IDS = 500;

export function moveErc1155(world: World): Transaction {
  const { prng, actors } = world;
  const token = prng.pickZipf(actors.erc1155);
  const { from, id, amount } = pickSource(world, token);
  const burns = from !== ZERO_ADDRESS && prng.chance(0.06);
  const to = burns ? ZERO_ADDRESS : actors.wallet();
  const operator = from === ZERO_ADDRESS ? actors.wallet() : from;

  const input = encode(SELECTOR.safeTransferFrom1155, from, to, id, amount);
  const transaction = world.begin(operator, token.address, 0n, input).pay();
  passErc1155(world, transaction, token, { operator, from, to, id, amount });
  return transaction;
}

interface SingleTransfer {
  operator: Hex;
  from: Hex;
  to: Hex;
  id: bigint;
  amount: bigint;
}

/** One TransferSingle log, its effect on the positions, and its entry in the ledger. */
export function passErc1155(
  world: World,
  transaction: Transaction,
  token: Erc1155Token,
  { operator, from, to, id, amount }: SingleTransfer,
): void {
  const topics = [EVENT.transferSingle, topic(operator), topic(from), topic(to)];
  const logIndex = transaction.emit(token.address, topics, encode('0x', id, amount));
  changeBalances(token, from, to, id, amount);
  world.ledger.book({ kind: 'erc1155', token: token.address, from, to, amount, tokenId: id, logIndex });
}

/** A batch mint of up to nine ids, with empty batches, repeated ids and zero amounts among them. */
export function mintErc1155Batch(world: World): Transaction {
  const { prng, actors, ledger } = world;
  const token = prng.pickZipf(actors.erc1155);
  const length = prng.chance(0.05) ? 0 : 1 + prng.below(9);
  const to = actors.wallet();
  const ids: bigint[] = [];
  const amounts: bigint[] = [];
  for (let i = 0; i < length; i++) {
    ids.push(i > 0 && prng.chance(0.1) ? ids[0]! : BigInt(prng.below(IDS)));
    amounts.push(prng.chance(0.05) ? 0n : BigInt(1 + prng.below(1000)));
  }

  const operator = actors.wallet();
  const transaction = world
    .begin(operator, token.address, 0n, encode(SELECTOR.safeBatchTransferFrom, to))
    .pay();
  const topics = [EVENT.transferBatch, topic(operator), topic(ZERO_ADDRESS), topic(to)];
  const logIndex = transaction.emit(token.address, topics, batchData(ids, amounts));
  ids.forEach((id, batchIndex) => {
    const amount = amounts[batchIndex]!;
    changeBalances(token, ZERO_ADDRESS, to, id, amount);
    ledger.book({
      kind: 'erc1155',
      token: token.address,
      from: ZERO_ADDRESS,
      to,
      amount,
      tokenId: id,
      logIndex,
      batchIndex,
    });
  });
  return transaction;
}

/** The source of a transfer: the zero address for a mint, else a position with a balance. */
function pickSource({ prng }: World, token: Erc1155Token): { from: Hex; id: bigint; amount: bigint } {
  const mints = token.positions.length < 5 || prng.chance(0.45);
  const minted = {
    from: ZERO_ADDRESS,
    id: BigInt(prng.below(IDS)),
    amount: BigInt(1 + prng.below(1000)),
  };
  if (mints) return minted;
  const { holder, id, balance } = prng.pick(token.positions);
  return balance > 0n ? { from: holder, id, amount: randomPortion(prng, balance) } : minted;
}

/** ABI form of two dynamic arrays: two offsets, then each array as its length and its words. */
export function batchData(ids: bigint[], amounts: bigint[]): Hex {
  const length = BigInt(ids.length);
  return encode('0x', 64n, 96n + 32n * length, length, ...ids, length, ...amounts);
}

function changeBalances(token: Erc1155Token, from: Hex, to: Hex, id: bigint, amount: bigint): void {
  const source = token.byKey.get(`${from}|${id}`);
  if (source) source.balance -= amount;
  if (to === ZERO_ADDRESS) return;
  const key = `${to}|${id}`;
  const target = token.byKey.get(key);
  if (target) {
    target.balance += amount;
    return;
  }
  const position = { holder: to, id, balance: amount };
  token.byKey.set(key, position);
  token.positions.push(position);
}
