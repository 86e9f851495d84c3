/**
 * The members of the filters of `wallet_transfers` and of signals and webhooks, once for their parsers, documents and
 * pages. Plain constants, because the delivery thread reads stored filters and should not load a schema library. A new
 * member starts here; what it selects is decided in streams/transfers.
 */

import { TRADE_KINDS } from './trade-kind.ts';

/** Each side of a transfer produces one of these. A filter without `events` selects them all. */
export const SIDE_EVENTS = [
  'wallet_funded',
  'wallet_native_out',
  'wallet_token_buy',
  'wallet_token_sell',
] as const;

/** Sent only to filters that name them. */
export const NAMED_EVENTS = ['whale_transfer', 'wallet_created', 'token_created', 'wallet_trade'] as const;

export const SIGNAL_EVENTS = [...SIDE_EVENTS, ...NAMED_EVENTS] as const;
export type SignalEvent = (typeof SIGNAL_EVENTS)[number];

export const DIRECTIONS = ['in', 'out', 'both'] as const;

/** Most wallets, tokens or other items in one filter. */
export const MAX_ADDRESSES = 1_000;

/** Before the name of a stored list of addresses. */
export const LIST_PREFIX = 'list:';

/** A block number as a quantity, without leading zeros and below 2^53. */
export const BLOCK_PATTERN = /^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,12})$/;

export const HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/;

/** Whole coins as text. */
export const COINS_PATTERN = /^\d{1,30}(\.\d{1,30})?$/;

/** The native coin among quotes. Its equivalents mean the same. */
export const NATIVE_QUOTE = 'native';

export const QUOTE_PATTERN = new RegExp(`^(${NATIVE_QUOTE}|0x[0-9a-fA-F]{40})$`);

/** An amount in base units as text, of up to 256 bits. */
export const UNITS_PATTERN = /^\d{1,78}$/;

/** The kinds of value of a member, each with the words of the documentation. */
export const FILTER_TYPES = {
  address: 'address',
  addresses: 'list of addresses',
  /** Addresses, or the name of a stored list. */
  wallets: 'list of addresses, or "list:NAME"',
  events: `list of ${SIGNAL_EVENTS.join(', ')}`,
  direction: DIRECTIONS.join(', '),
  flag: 'boolean',
  coins: 'decimal',
  /** Amounts by token. */
  amounts: 'object: token to base units',
  kinds: `list of ${TRADE_KINDS.join(', ')}`,
  /** Amounts by quote. */
  quotes: `object: token or ${NATIVE_QUOTE} to base units`,
  block: 'block number',
  lastSeen: '{blockNumber, blockHash, rewrites?}',
} as const;

export type FilterType = keyof typeof FILTER_TYPES;

export interface FilterMember {
  type: FilterType;
  description: string;
  /** What an absent member, or null, means; for a flag its value. */
  byDefault?: string | boolean;
}

/** Members of a filter by name. */
export type FilterMembers = Readonly<Record<string, FilterMember>>;

/** Of both kinds of filter: where the subscription starts, and whether it reports how far it is. */
const DELIVERY = {
  fromBlock: {
    type: 'block',
    description:
      'First replay the indexed transfers from this block on, charged as one request per 1,000 transfers. ' +
      'Default: no replay',
  },
  lastSeen: {
    type: 'lastSeen',
    description:
      'The last block seen before a reconnect, from an event, a progress or anywhere else, with rewrites if ' +
      'it has one. Events that a reorg has since reverted come first, marked as removed; the replay follows. An ' +
      'error if a repair has rewritten the block since',
  },
  progress: {
    type: 'flag',
    byDefault: false,
    description:
      'Also send {progress: {blockNumber, blockHash, live}} once all events up to a block were sent: after ' +
      'each commit, and up to 4 times a second while catching up. live is false during a replay',
  },
} as const satisfies FilterMembers;

/** Of `wallet_transfers`. */
export const WALLET_FILTER = {
  address: { type: 'address', byDefault: 'required', description: 'The wallet' },
  addresses: { type: 'addresses', description: 'Up to 1,000 wallets, in place of address' },
  direction: {
    type: 'direction',
    byDefault: 'both',
    description: 'Transfers to the wallet, from the wallet, or both',
  },
  includeNative: {
    type: 'flag',
    byDefault: true,
    description: 'Transfers of the native coin, direct and internal',
  },
  includeTokens: { type: 'flag', byDefault: true, description: 'ERC-20, ERC-721 and ERC-1155' },
  ...DELIVERY,
} as const satisfies FilterMembers;

/** Of signals and webhooks. */
export const SIGNAL_FILTER = {
  wallets: {
    type: 'wallets',
    byDefault: 'all',
    description: 'The wallets to watch: up to 1,000, or a list imported by the operator',
  },
  tokens: {
    type: 'addresses',
    byDefault: 'all',
    description:
      'Only transfers of these token contracts, which excludes the native coin, and trades with one of them on a side',
  },
  events: { type: 'events', byDefault: 'the first four', description: 'Events to report' },
  minMon: {
    type: 'coins',
    description: 'Smallest native amount, in whole coins; required by whale_transfer',
  },
  minAmount: {
    type: 'amounts',
    description:
      'Smallest amount by token, in its base units: of a transfer, or of what a trade bought or sold',
  },
  excludeMints: { type: 'flag', byDefault: false, description: 'Exclude buys from the zero address' },
  purchasesOnly: {
    type: 'flag',
    byDefault: false,
    description:
      'Only buys of an asset that the wallet gained on balance in the transaction against something that it gave on ' +
      'balance. Where it is unknown what it gave (paidReason), the buy passes',
  },
  kinds: {
    type: 'kinds',
    byDefault: 'all',
    description: 'Only trades of these kinds; other events pass. Needs wallet_trade among the events',
  },
  minQuote: {
    type: 'quotes',
    description:
      'Smallest amount of a buy or sell by its quote, in base units: {"native": "1000000000000000000"}, or a token. ' +
      'Other trades and events pass. Needs wallet_trade among the events',
  },
  initiated: {
    type: 'flag',
    byDefault: false,
    description:
      'Only events of transactions that the wallet sent itself. Where the sender is unknown (txFromReason), ' +
      'the event passes',
  },
  ...DELIVERY,
} as const satisfies FilterMembers;
