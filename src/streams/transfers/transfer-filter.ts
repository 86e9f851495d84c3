/** Parses the parameters of `wallet_transfers` and `atlas_subscribe`. */
import { isObject } from '../../lib/text.ts';
import { coinToWei } from '../../lib/units.ts';
import { ADDRESS_PATTERN } from '../../model/address.ts';
import { BLOCK_PATTERN } from '../node/log-filter.ts';
import { assertKnownMembers, invalidParams, onlyFilter } from '../subscribe-errors.ts';
import { SIGNAL_EVENTS, type SignalEvent, type SignalFilter } from './signals.ts';

/** A block that a client saw; `hash` is lower-case hex digits without prefix. */
export interface LastSeen {
  number: number;
  hash: string;
}

/** Where a subscription starts; both null for new transfers only. */
export interface ReplayStart {
  fromBlock: number | null;
  lastSeen: LastSeen | null;
}

/** Addresses are 40 lower-case hex digits without prefix, as in index rows. */
export interface WalletFilter extends ReplayStart {
  wallets: ReadonlySet<string>;
  direction: (typeof DIRECTIONS)[number];
  includeNative: boolean;
  includeTokens: boolean;
}

const START_MEMBERS = ['fromBlock', 'lastSeen'];
const WALLET_MEMBERS = [
  'address',
  'addresses',
  'direction',
  'includeNative',
  'includeTokens',
  ...START_MEMBERS,
];

const DIRECTIONS = ['in', 'out', 'both'] as const;

/** Most wallets, and most tokens, in one filter. */
export const MAX_ADDRESSES = 1_000;

const HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/;

/** Parses the second parameter of the subscribe. Throws RequestError `invalid_params`. */
export function parseWalletFilter(value: unknown): WalletFilter {
  if (!isObject(value))
    throw invalidParams('wallet_transfers needs an object with the address of the wallet');
  assertKnownMembers(value, WALLET_MEMBERS);
  return {
    wallets: parseWallets(value.address, value.addresses),
    direction: parseDirection(value.direction),
    includeNative: parseFlag(value.includeNative, 'includeNative', true),
    includeTokens: parseFlag(value.includeTokens, 'includeTokens', true),
    ...parseStart(value.fromBlock, value.lastSeen),
  };
}

function parseWallets(address: unknown, addresses: unknown): Set<string> {
  const wallets = parseAddresses(addresses, 'addresses');
  if (address !== undefined && wallets.size > 0)
    throw invalidParams('pass either address or addresses, not both');
  return wallets.size > 0 ? wallets : new Set([parseAddress(address, 'address')]);
}

export function parseAddress(value: unknown, name: string): string {
  if (typeof value !== 'string' || !ADDRESS_PATTERN.test(value)) {
    throw invalidParams(`${name} must be an address: 0x and 40 hex digits`);
  }
  return value.slice(2).toLowerCase();
}

function parseAddresses(value: unknown, name: string): Set<string> {
  const items = parseList(value, name);
  if (items.length > MAX_ADDRESSES) throw invalidParams(`${name} has more than ${MAX_ADDRESSES} addresses`);
  return new Set(items.map((item, i) => parseAddress(item, `${name}[${i}]`)));
}

function parseList(value: unknown, name: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidParams(`${name} must be an array`);
  return value;
}

function parseDirection(value: unknown): WalletFilter['direction'] {
  if (value === undefined || value === null) return 'both';
  const direction = DIRECTIONS.find((known) => known === value);
  if (direction === undefined) throw invalidParams('direction must be in, out or both');
  return direction;
}

function parseFlag(value: unknown, name: string, byDefault: boolean): boolean {
  if (value === undefined || value === null) return byDefault;
  if (typeof value !== 'boolean') throw invalidParams(`${name} must be true or false`);
  return value;
}

function parseStart(fromBlock: unknown, lastSeen: unknown): ReplayStart {
  return {
    fromBlock: fromBlock === undefined || fromBlock === null ? null : parseBlock(fromBlock, 'fromBlock'),
    lastSeen: parseLastSeen(lastSeen),
  };
}

function parseLastSeen(value: unknown): LastSeen | null {
  if (value === undefined || value === null) return null;
  const hash = isObject(value) ? value.blockHash : undefined;
  if (!isObject(value) || typeof hash !== 'string' || !HASH_PATTERN.test(hash))
    throw invalidParams('lastSeen must be {"blockNumber": number, "blockHash": 0x and 64 hex digits}');
  assertKnownMembers(value, ['blockNumber', 'blockHash']);
  return { number: parseBlock(value.blockNumber, 'lastSeen.blockNumber'), hash: hash.slice(2).toLowerCase() };
}

function parseBlock(value: unknown, name: string): number {
  if (value === 'earliest') return 0;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  if (typeof value === 'string' && BLOCK_PATTERN.test(value)) return Number(value);
  throw invalidParams(`${name} must be a block number, or a quantity such as "0x1b4"`);
}

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
    wallets: parseListedWallets(value.wallets, lists),
    tokens: parseAddresses(value.tokens, 'tokens'),
    events,
    minWei,
    minAmounts: parseMinAmounts(value.minAmount),
    excludeMints: parseFlag(value.excludeMints, 'excludeMints', false),
    purchasesOnly: parseFlag(value.purchasesOnly, 'purchasesOnly', false),
  };
}

function parseListedWallets(value: unknown, lists: StoredLists): ReadonlySet<string> {
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
