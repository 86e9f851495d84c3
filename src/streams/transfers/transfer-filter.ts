/** Parses the parameters of `wallet_transfers`, and those shared with signals. */

import { isObject } from '../../lib/text.ts';
import { ADDRESS_PATTERN } from '../../model/address.ts';
import { assertKnownMembers } from '../filter-members.ts';
import { BLOCK_PATTERN } from '../node/log-filter.ts';
import { invalidParams } from '../subscribe-errors.ts';

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

export const START_MEMBERS = ['fromBlock', 'lastSeen'];
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

export function parseAddresses(value: unknown, name: string): Set<string> {
  const items = parseList(value, name);
  if (items.length > MAX_ADDRESSES) throw invalidParams(`${name} has more than ${MAX_ADDRESSES} addresses`);
  return new Set(items.map((item, i) => parseAddress(item, `${name}[${i}]`)));
}

export function parseList(value: unknown, name: string): unknown[] {
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

export function parseFlag(value: unknown, name: string, byDefault: boolean): boolean {
  if (value === undefined || value === null) return byDefault;
  if (typeof value !== 'boolean') throw invalidParams(`${name} must be true or false`);
  return value;
}

export function parseStart(fromBlock: unknown, lastSeen: unknown): ReplayStart {
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
