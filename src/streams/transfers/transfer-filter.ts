/** Parses the parameters of `wallet_transfers` and `atlas_subscribe`. */

import { isObject } from '../../lib/text.ts';
import { ADDRESS_PATTERN } from '../../model/address.ts';
import { assertKnownMembers, onlyFilter } from '../filter-members.ts';
import { BLOCK_PATTERN } from '../node/log-filter.ts';
import { invalidParams } from '../subscribe-errors.ts';
import { SIGNAL_EVENTS, type SignalEvent } from './transfer-json.ts';

/** Addresses are 40 lower-case hex digits without prefix, as in index rows. */
export interface WalletFilter {
  wallet: string;
  direction: (typeof DIRECTIONS)[number];
  includeNative: boolean;
  includeTokens: boolean;
  fromBlock: number | null;
}

/** An empty set of wallets, tokens or events means all. */
export interface SignalFilter {
  wallets: ReadonlySet<string>;
  tokens: ReadonlySet<string>;
  events: ReadonlySet<SignalEvent>;
  fromBlock: number | null;
}

const WALLET_MEMBERS = ['address', 'direction', 'includeNative', 'includeTokens', 'fromBlock'];
const SIGNAL_MEMBERS = ['wallets', 'tokens', 'events', 'fromBlock'];

const DIRECTIONS = ['in', 'out', 'both'] as const;

/** Maximum number of wallets, and of tokens, in one filter. */
const MAX_ADDRESSES = 1_000;

/** Parses the second parameter of the subscribe. Throws RequestError `invalid_params`. */
export function parseWalletFilter(value: unknown): WalletFilter {
  if (!isObject(value))
    throw invalidParams('wallet_transfers needs an object with the address of the wallet');
  assertKnownMembers(value, WALLET_MEMBERS);
  return {
    wallet: parseAddress(value.address, 'address'),
    direction: parseDirection(value.direction),
    includeNative: parseFlag(value.includeNative, 'includeNative'),
    includeTokens: parseFlag(value.includeTokens, 'includeTokens'),
    fromBlock: parseFromBlock(value.fromBlock),
  };
}

/**
 * Parses the parameters of `atlas_subscribe`: the filter, a list with the filter, or nothing. Throws RequestError
 * `invalid_params`.
 */
export function parseSignalFilter(params: unknown): SignalFilter {
  const value = (Array.isArray(params) ? onlyFilter(params) : params) ?? {};
  if (!isObject(value)) throw invalidParams('the parameters must be an object');
  assertKnownMembers(value, SIGNAL_MEMBERS);
  return {
    wallets: parseAddresses(value.wallets, 'wallets'),
    tokens: parseAddresses(value.tokens, 'tokens'),
    events: new Set(parseList(value.events, 'events').map(parseEvent)),
    fromBlock: parseFromBlock(value.fromBlock),
  };
}

function parseAddress(value: unknown, name: string): string {
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

function parseEvent(value: unknown): SignalEvent {
  const event = SIGNAL_EVENTS.find((known) => known === value);
  if (event === undefined) throw invalidParams(`events must be among ${SIGNAL_EVENTS.join(', ')}`);
  return event;
}

function parseDirection(value: unknown): WalletFilter['direction'] {
  if (value === undefined || value === null) return 'both';
  const direction = DIRECTIONS.find((known) => known === value);
  if (direction === undefined) throw invalidParams('direction must be in, out or both');
  return direction;
}

function parseFlag(value: unknown, name: string): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'boolean') throw invalidParams(`${name} must be true or false`);
  return value;
}

function parseFromBlock(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (value === 'earliest') return 0;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  if (typeof value === 'string' && BLOCK_PATTERN.test(value)) return Number(value);
  throw invalidParams('fromBlock must be a block number, or a quantity such as "0x1b4"');
}
