/** What the columns of a transfer stand for, wherever it is told of. */
import { digitsToBigInt } from '../lib/hex.ts';
import { KIND_NAMES, Kind, type KindName } from '../types.ts';
import type { TransferRow } from './transfers.ts';

export function kindName(kind: number): KindName {
  const name = KIND_NAMES[kind];
  if (name === undefined) throw new Error(`the index holds a transfer of the unknown kind ${kind}`);
  return name;
}

/** In the smallest units of what is moved; an ERC-721 token is one. */
export function amountOf({ kind, amount }: TransferRow): bigint {
  return kind === Kind.erc721 ? 1n : digitsToBigInt(amount);
}

/** The id of an ERC-721 or ERC-1155 token as decimal text; null for what has no ids. */
export function tokenIdOf({ kind, tokenNumber }: TransferRow): string | null {
  return kind === Kind.erc721 || kind === Kind.erc1155 ? digitsToBigInt(tokenNumber).toString() : null;
}
