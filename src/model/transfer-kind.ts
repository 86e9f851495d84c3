/** The kinds of transfer, by number and by public name. */

/** The five kinds of transfer, as packed into `transfers.token_kind` (store/schema.ts). */
export const TransferKind = {
  nativeDirect: 0,
  erc20: 1,
  nativeInternal: 2,
  erc721: 3,
  erc1155: 4,
} as const;

export type TransferKind = (typeof TransferKind)[keyof typeof TransferKind];

/** The public name of each kind, indexed by its number (REST `transferType`). */
export const TRANSFER_KIND_NAMES = [
  'native_direct',
  'erc20',
  'native_internal',
  'erc721',
  'erc1155',
] as const;

export type TransferKindName = (typeof TRANSFER_KIND_NAMES)[number];

/** Whether transfers of this kind move the native coin, not a token. */
export function isNativeKind(kind: number): boolean {
  return kind === TransferKind.nativeDirect || kind === TransferKind.nativeInternal;
}
