/** Conversions from index rows to the values of JSON answers. */
import { decodeSigned } from '../lib/signed.ts';
import { kindName } from '../query/transfer-values.ts';
import { TransferKind, type TransferKindName } from '../types.ts';

/** Decimal text of a stored balance. */
export function balanceText(balance: Uint8Array): string {
  return decodeSigned(balance).toString();
}

/** The kinds of transfer that carry a token, as types of the token. */
export const TOKEN_TYPES = ['erc20', 'erc721', 'erc1155'] as const satisfies readonly TransferKindName[];

export function tokenType(kind: number): (typeof TOKEN_TYPES)[number] {
  const name = kindName(kind);
  const type = TOKEN_TYPES.find((candidate) => candidate === name);
  if (type === undefined) throw new Error(`the index holds a token whose transfers are ${name}`);
  return type;
}

export function sourceOf(kind: number): 'direct' | 'internal' {
  return kind === TransferKind.nativeDirect ? 'direct' : 'internal';
}
