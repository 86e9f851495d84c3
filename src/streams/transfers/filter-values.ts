/**
 * Reads the members of a checked filter: one from a client that passed the schema (src/schemas/stream-filters.ts), or
 * one that hooks.db stores. Null means absent. Throws RequestError `invalid_params` for a stored value that is damaged.
 */
import type { MarkedBlock } from '../../follower/removed-blocks.ts';
import type { RequestError } from '../../lib/errors.ts';
import { isObject } from '../../lib/text.ts';
import { coinToWei, decimalText } from '../../lib/units.ts';
import { ADDRESS_PATTERN } from '../../model/address.ts';
import { MARK_PATTERN } from '../../model/rewrites.ts';
import {
  BLOCK_PATTERN,
  COINS_PATTERN,
  DIRECTIONS,
  type FilterMember,
  type FilterMembers,
  type FilterType,
  HASH_PATTERN,
  LIST_PREFIX,
  NATIVE_QUOTE,
  QUOTE_PATTERN,
  SIGNAL_EVENTS,
  type SignalEvent,
  UNITS_PATTERN,
} from '../../model/stream-filters.ts';
import { TRADE_KINDS, type TradeKind } from '../../model/trade-kind.ts';
import { invalidParams } from '../subscribe-errors.ts';

/** A block that a client saw; `hash` is lower-case hex digits without prefix. */
export type LastSeen = MarkedBlock;

/** The addresses of a stored list; undefined if no list has this name. */
export type StoredLists = (name: string) => ReadonlySet<string> | undefined;

/** What each type of member means. Addresses are 40 lower-case hex digits without prefix, as in index rows. */
interface TypeValues {
  address: string | null;
  /** Empty for all. */
  addresses: ReadonlySet<string>;
  wallets: ReadonlySet<string>;
  events: ReadonlySet<SignalEvent>;
  direction: (typeof DIRECTIONS)[number];
  flag: boolean;
  /** Wei. */
  coins: bigint | null;
  amounts: ReadonlyMap<string, bigint>;
  kinds: ReadonlySet<TradeKind>;
  /** By contract, empty for the native coin. */
  quotes: ReadonlyMap<string, bigint>;
  block: number | null;
  lastSeen: LastSeen | null;
}

export type FilterValues<M extends FilterMembers> = { [Name in keyof M]: TypeValues[M[Name]['type']] };

/** `value` is null for an absent member. */
type Reader<T extends FilterType> = (
  value: unknown,
  name: string,
  member: FilterMember,
  lists: StoredLists,
) => TypeValues[T];

const READERS: { [T in FilterType]: Reader<T> } = {
  address: (value, name) => (value === null ? null : digitsOf(value, name)),
  addresses: addressSet,
  wallets: (value, name, _, lists) =>
    typeof value === 'string' ? storedList(value, name, lists) : addressSet(value, name),
  events: (value, name) => new Set(listOf(value, name).map((item) => oneOf(SIGNAL_EVENTS, item, name))),
  kinds: (value, name) => new Set(listOf(value, name).map((item) => oneOf(TRADE_KINDS, item, name))),
  direction: (value, name) => (value === null ? 'both' : oneOf(DIRECTIONS, value, name)),
  flag: (value, name, { byDefault }) =>
    value === null ? byDefault === true : oneOf([true, false], value, name),
  coins: (value, name) => {
    if (value === null) return null;
    return coinToWei(typeof value === 'number' ? decimalText(value) : textOf(value, COINS_PATTERN, name));
  },
  amounts: (value, name) => amountsBy(value, name, (token) => digitsOf(token, `a token of ${name}`)),
  quotes: (value, name) => amountsBy(value, name, (quote) => quoteOf(quote, name)),
  block: (value, name) => (value === null ? null : blockOf(value, name)),
  lastSeen: (value, name) => {
    if (value === null) return null;
    const { blockNumber, blockHash, rewrites = null } = objectOf(value, name);
    const hash = textOf(blockHash, HASH_PATTERN, name).slice(2).toLowerCase();
    const mark = rewrites === null ? null : textOf(rewrites, MARK_PATTERN, name);
    return { number: blockOf(blockNumber, name), hash, mark };
  },
};

/** The members of a filter by name. Unknown ones are ignored. */
export function readMembers<M extends FilterMembers>(
  members: M,
  filter: object,
  lists: StoredLists,
): FilterValues<M>;
export function readMembers(members: FilterMembers, filter: object, lists: StoredLists): object {
  const given = new Map<string, unknown>(Object.entries(filter));
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [
      name,
      READERS[member.type](given.get(name) ?? null, name, member, lists),
    ]),
  );
}

/** The 40 digits of an address. */
export function digitsOf(value: unknown, name: string): string {
  return textOf(value, ADDRESS_PATTERN, name, 'must be an address: 0x and 40 hex digits')
    .slice(2)
    .toLowerCase();
}

/** The 40 digits of a token, empty for the native coin. */
function quoteOf(value: string, name: string): string {
  const rule = `must be ${NATIVE_QUOTE}, or the address of a token: 0x and 40 hex digits`;
  const quote = textOf(value, QUOTE_PATTERN, `a quote of ${name}`, rule);
  return quote === NATIVE_QUOTE ? '' : quote.slice(2).toLowerCase();
}

function amountsBy(
  value: unknown,
  name: string,
  keyOf: (text: string) => string,
): ReadonlyMap<string, bigint> {
  const entries = Object.entries(value === null ? {} : objectOf(value, name));
  return new Map(entries.map(([key, amount]) => [keyOf(key), BigInt(textOf(amount, UNITS_PATTERN, name))]));
}

function addressSet(value: unknown, name: string): ReadonlySet<string> {
  return new Set(listOf(value, name).map((item) => digitsOf(item, name)));
}

const MAX_LIST_NAME = 100;

function storedList(value: string, name: string, lists: StoredLists): ReadonlySet<string> {
  const list = lists(value.slice(LIST_PREFIX.length));
  const shown = value.slice(LIST_PREFIX.length).slice(0, MAX_LIST_NAME);
  if (!value.startsWith(LIST_PREFIX)) throw unreadable(name);
  if (list === undefined) throw invalidParams(`there is no list "${shown}"`);
  if (list.size === 0) throw invalidParams(`the list "${shown}" is empty`); // an empty set would mean all wallets
  return list;
}

function listOf(value: unknown, name: string): unknown[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw unreadable(name);
  return value;
}

function oneOf<T>(known: readonly T[], value: unknown, name: string): T {
  const found = known.find((candidate) => candidate === value);
  if (found === undefined) throw unreadable(name);
  return found;
}

function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (!isObject(value)) throw unreadable(name);
  return value;
}

function blockOf(value: unknown, name: string): number {
  if (value === 'earliest') return 0;
  return typeof value === 'number' ? value : Number(textOf(value, BLOCK_PATTERN, name));
}

function textOf(value: unknown, pattern: RegExp, name: string, rule = 'cannot be read'): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw invalidParams(`${name} ${rule}`);
  return value;
}

function unreadable(name: string): RequestError {
  return invalidParams(`${name} cannot be read`);
}
