/** Addresses of the chain. */

import type { Hex } from '../lib/hex.ts';

/** `0x` and 40 hex digits, in any case. */
export const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;

/** The 40 digits of the zero address, without prefix: the other side of mints and burns. */
export const ZERO_DIGITS = '0'.repeat(40);

export const ZERO_ADDRESS: Hex = `0x${ZERO_DIGITS}`;

/**
 * Whether a transaction with this receiver may have created a contract: nodes send null, `""`, `"0x"`, `"0x0"` or the
 * zero address, or leave the receiver out.
 */
export function mayBeCreation(to: unknown): boolean {
  return to === undefined || to === null || to === '' || to === '0x' || to === '0x0' || to === ZERO_ADDRESS;
}

/** The addresses of all lists in lower case, sorted, without duplicates. */
export function mergeAddresses(...lists: (readonly string[] | undefined)[]): Hex[] {
  const digits = lists.flatMap((list) => (list ?? []).map((address) => address.toLowerCase().slice(2)));
  return [...new Set(digits)].sort().map((each): Hex => `0x${each}`);
}

/** An address that the explorer's home page suggests to visitors. */
export interface ExampleAddress {
  name: string;
  /** What the address shows. */
  about: string;
  /** `0x` and 40 hex digits in lower case. */
  address: string;
}
