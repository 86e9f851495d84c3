/** Transactions of ERC-721 tokens. */

import type { Hex } from '../../../../src/lib/hex.ts';
import { ZERO_ADDRESS } from '../../../../src/model/address.ts';
import { EVENT, encode, SELECTOR, topic } from '../abi.ts';
import type { Erc721Token } from '../actors.ts';
import { nativeAmount } from '../amounts.ts';
import type { Transaction } from '../transaction.ts';
import type { World } from '../world.ts';

/** A mint, paid in three of ten cases, else a transfer or occasionally a burn. */
export function moveErc721(world: World): Transaction {
  const { prng, actors } = world;
  const token = prng.pickZipf(actors.erc721);
  const mints = token.ids.length < 3 || prng.chance(0.4);
  const id = mints ? BigInt(token.nextId++) : prng.pick(token.ids);
  const from = mints ? ZERO_ADDRESS : token.owners.get(id)!;
  const burns = !mints && prng.chance(0.05);
  const to = burns ? ZERO_ADDRESS : actors.wallet();
  const price = mints && prng.chance(0.3) ? nativeAmount(prng) : 0n;

  const input = encode(SELECTOR.safeTransferFrom721, from, to, id);
  const transaction = world.begin(mints ? to : from, token.address, price, input).pay();
  passErc721(world, transaction, token, id, from, to);
  return transaction;
}

/** One Transfer log, the change of the owner, and the entry in the ledger. */
export function passErc721(
  world: World,
  transaction: Transaction,
  token: Erc721Token,
  id: bigint,
  from: Hex,
  to: Hex,
): void {
  const logIndex = token.isIndexed
    ? transaction.emit(token.address, [EVENT.transfer, topic(from), topic(to), topic(id)], '0x')
    : transaction.emit(token.address, [EVENT.transfer], encode('0x', from, to, id));
  changeOwner(token, id, from === ZERO_ADDRESS, to);
  world.ledger.book({ kind: 'erc721', token: token.address, from, to, amount: 1n, tokenId: id, logIndex });
}

function changeOwner(token: Erc721Token, id: bigint, isNew: boolean, owner: Hex): void {
  if (isNew) token.ids.push(id);
  if (owner !== ZERO_ADDRESS) {
    token.owners.set(id, owner);
    return;
  }
  token.owners.delete(id);
  token.ids.splice(token.ids.indexOf(id), 1);
}
