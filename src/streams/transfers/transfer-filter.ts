/**
 * The filters of `wallet_transfers` and of signals. Clients' filters come through parse-filter.ts; the delivery thread
 * reads the stored ones of hooks here.
 */
import { SIGNAL_FILTER, WALLET_FILTER } from '../../model/stream-filters.ts';
import { type FilterValues, type LastSeen, readMembers, type StoredLists } from './filter-values.ts';

export type { LastSeen, StoredLists };

/** How a subscription is served, whatever it selects. */
export interface DeliveryOptions {
  /** Where it starts. Both null for new transfers only. */
  fromBlock: number | null;
  lastSeen: LastSeen | null;
  /** Whether it reports how far it is. */
  progress: boolean;
}

export interface WalletFilter extends Omit<FilterValues<typeof WALLET_FILTER>, 'address' | 'addresses'> {
  wallets: ReadonlySet<string>;
}

/** An empty set of wallets, tokens or events means all. */
export type SignalFilter = Omit<FilterValues<typeof SIGNAL_FILTER>, keyof DeliveryOptions>;

const NO_LISTS: StoredLists = () => undefined;

/** `filter` has passed the schema. */
export function readWalletFilter(filter: object): WalletFilter {
  const { address, addresses, ...rest } = readMembers(WALLET_FILTER, filter, NO_LISTS);
  return { ...rest, wallets: address === null ? addresses : new Set([address]) };
}

/** `filter` has passed the schema. Throws RequestError `invalid_params` if it names a list that is missing or empty. */
export function readSignalFilter(filter: object, lists = NO_LISTS): SignalFilter & DeliveryOptions {
  return readMembers(SIGNAL_FILTER, filter, lists);
}
