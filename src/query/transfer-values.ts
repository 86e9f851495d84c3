/** The meaning of a transfer's columns, for answers and notifications alike. */
import { digitsToBigInt } from '../lib/hex.ts';
import { TRANSFER_KIND_NAMES, TransferKind, type TransferKindName } from '../types.ts';
import type { TransferRow } from './transfers.ts';

export function kindName(kind: number): TransferKindName {
  const name = TRANSFER_KIND_NAMES[kind];
  if (name === undefined) throw new Error(`the index holds a transfer of the unknown kind ${kind}`);
  return name;
}

/** The amount in the smallest units of the coin or token; an ERC-721 token counts as one. */
export function amountOf({ kind, amount }: TransferRow): bigint {
  return kind === TransferKind.erc721 ? 1n : digitsToBigInt(amount);
}

/** The id of an ERC-721 or ERC-1155 token as decimal text; null for transfers without ids. */
export function tokenIdOf({ kind, tokenNumber }: TransferRow): string | null {
  return kind === TransferKind.erc721 || kind === TransferKind.erc1155
    ? digitsToBigInt(tokenNumber).toString()
    : null;
}
