/** Parses the parameters of `wallet_transfers` and `atlas_subscribe`, and the filters of hooks. */
import { isObject } from '../../lib/text.ts';
import { MAX_ADDRESSES } from '../../model/stream-filters.ts';
import { type FilterSchema, firstProblem } from '../../schemas/problems.ts';
import { signalFilterSchema, walletFilterSchema } from '../../schemas/stream-filters.ts';
import { assertKnownMembers, invalidParams, onlyFilter } from '../subscribe-errors.ts';
import type { StoredLists } from './filter-values.ts';
import {
  type DeliveryOptions,
  readSignalFilter,
  readWalletFilter,
  type SignalFilter,
  type WalletFilter,
} from './transfer-filter.ts';

/** Parses the second parameter of the subscribe. Throws RequestError `invalid_params`. */
export function parseWalletFilter(value: unknown): WalletFilter {
  return readWalletFilter(checked(walletFilterSchema, value));
}

/**
 * Parses the parameters of `atlas_subscribe`: the filter, a list with the filter, or nothing. Throws RequestError
 * `invalid_params`.
 */
export function parseSignalFilter(params: unknown, lists?: StoredLists): SignalFilter & DeliveryOptions {
  const value = (Array.isArray(params) ? onlyFilter(params) : params) ?? {};
  return readSignalFilter(checked(signalFilterSchema, value), lists);
}

/** The filter, once it has passed its schema. */
function checked(schema: FilterSchema, value: unknown): object {
  if (isObject(value)) {
    assertKnownMembers(value, Object.keys(schema.shape));
    for (const [name, member] of Object.entries(value)) assertSmall(name, member);
    if (isObject(value.lastSeen))
      assertKnownMembers(value.lastSeen, ['blockNumber', 'blockHash', 'rewrites']);
  }
  const problem = firstProblem(schema, value);
  if (problem !== null) throw invalidParams(problem);
  return Object(value);
}

/** What the members have many of, if not addresses. */
const ITEMS: Readonly<Record<string, string>> = {
  minAmount: 'tokens',
  minQuote: 'quotes',
  events: 'events',
  kinds: 'kinds',
};

/** Checked first, because the schema would look at every item of a list before it counts them. */
function assertSmall(name: string, member: unknown): void {
  const size = Array.isArray(member) ? member.length : isObject(member) ? Object.keys(member).length : 0;
  const what = ITEMS[name] ?? 'addresses';
  if (size > MAX_ADDRESSES) throw invalidParams(`${name} has more than ${MAX_ADDRESSES} ${what}`);
}
