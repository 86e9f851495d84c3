import type { Hex } from '../../../src/lib/hex.ts';

export const MAX_UINT256 = (1n << 256n) - 1n;

/** First topics of the events, keccak-256 of the signature. */
export const EVENT = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  transferSingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  transferBatch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
  approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
  deposit: '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c',
  withdrawal: '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65',
  sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
} as const satisfies Record<string, Hex>;

/** Function selectors. */
export const SELECTOR = {
  approve: '0x095ea7b3',
  balanceOf: '0x70a08231',
  burn: '0x42966c68',
  disperse: '0xe63d38ed',
  getReserves: '0x0902f1ac',
  kill: '0x41c0e1b5',
  mint: '0x40c10f19',
  safeBatchTransferFrom: '0x2eb2c2d6',
  safeTransferFrom721: '0x42842e0e',
  safeTransferFrom1155: '0xf242432a',
  swap: '0x38ed1739',
  transfer: '0xa9059cbb',
  transferFrom: '0x23b872dd',
} as const satisfies Record<string, Hex>;

/** One 32-byte word, 64 hex digits without prefix, of an address or a non-negative integer. */
export function word(value: Hex | bigint): string {
  return (typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0');
}

/** A 32-byte topic or return value. */
export function topic(value: Hex | bigint): Hex {
  return `0x${word(value)}`;
}

/** Call data, or log data when the selector is `0x`: the words one after the other. */
export function encode(selector: Hex, ...values: (Hex | bigint)[]): Hex {
  return `${selector}${values.map(word).join('')}`;
}
