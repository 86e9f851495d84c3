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

export function addressOrNull(hexDigits: string): string | null {
  return hexDigits === '' ? null : `0x${hexDigits}`;
}

export function kindName(kind: number): KindName {
  const name = KIND_NAMES[kind];
  if (name === undefined) throw new Error(`the index holds a transfer of the unknown kind ${kind}`);
  return name;
}

export function sourceOf(kind: number): 'direct' | 'internal' {
  return kind === Kind.nativeDirect ? 'direct' : 'internal';
}
