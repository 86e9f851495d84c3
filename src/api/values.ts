/** From what the index reads give to the values of JSON answers. */
import { decodeSigned } from '../lib/signed.ts';
import { KIND_NAMES, Kind, type KindName } from '../types.ts';

/** Decimals of every chain's own coin. */
export const NATIVE_DECIMALS = 18;

/** The integer of big-endian hex digits; none is zero. */
export function integer(hexDigits: string): bigint {
  return hexDigits === '' ? 0n : BigInt(`0x${hexDigits}`);
}

export function integerText(hexDigits: string): string {
  return integer(hexDigits).toString();
}

/** Decimal text of a stored balance. */
export function balanceText(balance: Uint8Array): string {
  return decodeSigned(balance).toString();
}

export function kindName(kind: number): KindName {
  const name = KIND_NAMES[kind];
  if (name === undefined) throw new Error(`the index holds a transfer of the unknown kind ${kind}`);
  return name;
}

/** The kinds of transfer that carry a token, as types of the token. */
export const TOKEN_TYPES = ['erc20', 'erc721', 'erc1155'] as const satisfies readonly KindName[];

export function tokenType(kind: number): (typeof TOKEN_TYPES)[number] {
  const name = kindName(kind);
  const type = TOKEN_TYPES.find((candidate) => candidate === name);
  if (type === undefined) throw new Error(`the index holds a token whose transfers are ${name}`);
  return type;
}

export function sourceOf(kind: number): 'direct' | 'internal' {
  return kind === Kind.nativeDirect ? 'direct' : 'internal';
}
