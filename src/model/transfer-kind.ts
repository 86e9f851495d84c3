/** The kinds of transfer: what each is called, and how it counts. A new token standard starts here. */

/** The codes of the kinds, as packed into `transfers.token_kind` (store/schema.ts). */
export const TransferKind = {
  nativeDirect: 0,
  erc20: 1,
  nativeInternal: 2,
  erc721: 3,
  erc1155: 4,
} as const;

export type TransferKind = (typeof TransferKind)[keyof typeof TransferKind];

interface KindFacts {
  code: TransferKind;
  /** Public name (REST `transferType`). */
  name: string;
  /** As people read it. */
  label: string;
  /** Whether it moves the native coin, not a token. */
  isNative: boolean;
  /** Whether each transfer moves exactly one, so that no amount is stored. */
  movesOne: boolean;
  /** Whether the token is one of many of its contract, with a number (`tokenId`). */
  hasTokenNumber: boolean;
}

/** In the order in which people read them. */
export const TRANSFER_KINDS = [
  {
    code: TransferKind.nativeDirect,
    name: 'native_direct',
    label: 'Coin',
    isNative: true,
    movesOne: false,
    hasTokenNumber: false,
  },
  {
    code: TransferKind.nativeInternal,
    name: 'native_internal',
    label: 'Coin, internal',
    isNative: true,
    movesOne: false,
    hasTokenNumber: false,
  },
  {
    code: TransferKind.erc20,
    name: 'erc20',
    label: 'ERC-20',
    isNative: false,
    movesOne: false,
    hasTokenNumber: false,
  },
  {
    code: TransferKind.erc721,
    name: 'erc721',
    label: 'ERC-721',
    isNative: false,
    movesOne: true,
    hasTokenNumber: true,
  },
  {
    code: TransferKind.erc1155,
    name: 'erc1155',
    label: 'ERC-1155',
    isNative: false,
    movesOne: false,
    hasTokenNumber: true,
  },
] as const satisfies readonly KindFacts[];

type Kind = (typeof TRANSFER_KINDS)[number];
export type TransferKindName = Kind['name'];
export type TokenKindName = Extract<Kind, { isNative: false }>['name'];

/** The public name of each kind, indexed by its code. */
export const TRANSFER_KIND_NAMES = TRANSFER_KINDS.toSorted((a, b) => a.code - b.code).map(({ name }) => name);

export const TOKEN_KIND_NAMES: readonly TokenKindName[] = TRANSFER_KINDS.flatMap((kind) =>
  kind.isNative ? [] : [kind.name],
);

/** The codes of the kinds that a question about them selects, ascending. */
function codesOf(selects: (kind: Kind) => boolean): readonly TransferKind[] {
  return TRANSFER_KINDS.filter(selects)
    .map(({ code }) => code)
    .sort((a, b) => a - b);
}

// Pages of wallet histories number their entries by these two lists, one after the other (store/wallet-history.ts). A
// token kind with the next code comes last; a native one would renumber all token kinds, which needs a migration.
export const NATIVE_KINDS = codesOf(({ isNative }) => isNative);
export const TOKEN_KINDS = codesOf(({ isNative }) => !isNative);

/** A set of kinds: bit `1 << code` of each. Asking it costs a decoding loop nothing. */
export function kindBits(selects: (kind: Kind) => boolean): number {
  return TRANSFER_KINDS.reduce((bits, kind) => (selects(kind) ? bits | (1 << kind.code) : bits), 0);
}

const NATIVE = kindBits(({ isNative }) => isNative);
const MOVES_ONE = kindBits(({ movesOne }) => movesOne);
const TOKEN_NUMBER = kindBits(({ hasTokenNumber }) => hasTokenNumber);
const SEMI_FUNGIBLE = TOKEN_NUMBER & ~MOVES_ONE;

/** Whether transfers of this kind move the native coin, not a token. */
export function isNativeKind(kind: number): boolean {
  return ((NATIVE >> kind) & 1) === 1;
}

/** Whether transfers of this kind move exactly one, and store no amount. */
export function movesOne(kind: number): boolean {
  return ((MOVES_ONE >> kind) & 1) === 1;
}

/** Whether the tokens of this kind have numbers. */
export function hasTokenNumber(kind: number): boolean {
  return ((TOKEN_NUMBER >> kind) & 1) === 1;
}

/** Whether each token number of a contract is an asset of its own, of which there are many units. */
export function isSemiFungible(kind: number): boolean {
  return ((SEMI_FUNGIBLE >> kind) & 1) === 1;
}

/**
 * The kind that a token is shown as where its logs have the form of another: an NFT whose id is logged as an amount, an
 * ERC-20 whose amount is logged as an id. Null where it is the form.
 */
export type ViewKind = typeof TransferKind.erc20 | typeof TransferKind.erc721 | null;

/** The kind to show of a transfer. Its stored kind is the form of its log, by which sums and filters go. */
export function shownKind({ kind, viewKind }: { kind: number; viewKind: ViewKind }): number {
  return viewKind === null || isSemiFungible(kind) ? kind : viewKind;
}

/** A value per kind, by public name. */
export function byKindName<T>(of: (kind: Kind) => T): Record<TransferKindName, T>;
export function byKindName(of: (kind: Kind) => unknown): object {
  return Object.fromEntries(TRANSFER_KINDS.map((kind) => [kind.name, of(kind)]));
}
