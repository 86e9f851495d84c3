/** Parses the parameters of `atlas_subscribe`. */
import { isObject } from '../../lib/text.ts';
import { coinToWei } from '../../lib/units.ts';
import { assertKnownMembers, onlyFilter } from '../filter-members.ts';
import { invalidParams } from '../subscribe-errors.ts';
import { SIGNAL_EVENTS, type SignalEvent, type SignalFilter } from './signals.ts';
import {
  MAX_ADDRESSES,
  parseAddress,
  parseAddresses,
  parseFlag,
  parseList,
  parseStart,
  type ReplayStart,
  START_MEMBERS,
} from './transfer-filter.ts';

/** The members that select signals. A subscription also accepts the start members. */
const MEMBERS = ['wallets', 'tokens', 'events', 'minMon', 'minAmount', 'excludeMints', 'purchasesOnly'];

const LIST_PREFIX = 'list:';
const MAX_LIST_NAME = 100;

/** The addresses of a stored list; undefined if no list has this name. */
export type StoredLists = (name: string) => ReadonlySet<string> | undefined;

const NO_LISTS: StoredLists = () => undefined;

/**
 * Parses the parameters of `atlas_subscribe`: the filter, a list with the filter, or nothing. Throws RequestError
 * `invalid_params`.
 */
export function parseSignalFilter(params: unknown, lists = NO_LISTS): SignalFilter & ReplayStart {
  const value = (Array.isArray(params) ? onlyFilter(params) : params) ?? {};
  if (!isObject(value)) throw invalidParams('the parameters must be an object');
  assertKnownMembers(value, [...MEMBERS, ...START_MEMBERS]);
  return { ...parseSelection(value, lists), ...parseStart(value.fromBlock, value.lastSeen) };
}

function parseSelection(value: Record<string, unknown>, lists: StoredLists): SignalFilter {
  const events = new Set(parseList(value.events, 'events').map(parseEvent));
  const minWei = parseMinMon(value.minMon);
  if (events.has('whale_transfer') && minWei === null)
    throw invalidParams('whale_transfer needs minMon, the smallest amount of a whale');
  return {
    wallets: parseWallets(value.wallets, lists),
    tokens: parseAddresses(value.tokens, 'tokens'),
    events,
    minWei,
    minAmounts: parseMinAmounts(value.minAmount),
    excludeMints: parseFlag(value.excludeMints, 'excludeMints', false),
    purchasesOnly: parseFlag(value.purchasesOnly, 'purchasesOnly', false),
  };
}

function parseWallets(value: unknown, lists: StoredLists): ReadonlySet<string> {
  if (typeof value !== 'string') return parseAddresses(value, 'wallets');
  if (!value.startsWith(LIST_PREFIX))
    throw invalidParams('wallets must be an array of addresses, or "list:<name>"');
  const name = value.slice(LIST_PREFIX.length);
  const list = lists(name);
  if (list === undefined) throw invalidParams(`there is no list "${name.slice(0, MAX_LIST_NAME)}"`);
  if (list.size === 0) throw invalidParams(`the list "${name}" is empty`); // an empty set would mean all wallets
  return list;
}

function parseEvent(value: unknown): SignalEvent {
  const event = SIGNAL_EVENTS.find((known) => known === value);
  if (event === undefined) throw invalidParams(`events must be among ${SIGNAL_EVENTS.join(', ')}`);
  return event;
}

function parseMinMon(value: unknown): bigint | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !/^\d{1,30}(\.\d{1,30})?$/.test(text))
    throw invalidParams('minMon must be a decimal number of coins, such as "1.5"');
  return coinToWei(text);
}

function parseMinAmounts(value: unknown): Map<string, bigint> {
  if (value === undefined || value === null) return new Map();
  if (!isObject(value)) throw invalidParams('minAmount must be an object: token to amount in base units');
  const entries = Object.entries(value);
  if (entries.length > MAX_ADDRESSES) throw invalidParams(`minAmount has more than ${MAX_ADDRESSES} tokens`);
  return new Map(
    entries.map(([token, amount]) => {
      if (typeof amount !== 'string' || !/^\d{1,78}$/.test(amount))
        throw invalidParams(
          `minAmount of ${token.slice(0, 42)} must be an integer in base units, as a string`,
        );
      return [parseAddress(token, 'a token of minAmount'), BigInt(amount)];
    }),
  );
}
