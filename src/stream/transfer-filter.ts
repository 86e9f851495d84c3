/** The parameters of subscriptions to transfers: of `wallet_transfers` and of `atlas_subscribe`. */
import { ADDRESS } from '../lib/address.ts';
import { isObject } from '../lib/is-object.ts';
import { BLOCK } from './forms.ts';
import { invalidParams } from './refusals.ts';
import { SIGNAL_EVENTS, type SignalEvent } from './transfer-json.ts';

/** Addresses are 40 lower-case hex digits without prefix, as in index rows. */
export interface WalletFilter {
  wallet: string;
  direction: 'in' | 'out' | 'both';
  native: boolean;
  tokens: boolean;
  fromBlock: number | null;
}

/** An empty set of wallets, tokens or events means all. */
export interface SignalFilter {
  wallets: ReadonlySet<string>;
  tokens: ReadonlySet<string>;
  events: ReadonlySet<SignalEvent>;
  fromBlock: number | null;
}

const EVENTS = new Set<string>(SIGNAL_EVENTS);
const DIRECTIONS = new Set<string>(['in', 'out', 'both']);

/** Most wallets, and most tokens, that one subscription may name. */
const MAX_ADDRESSES = 1_000;

/** Reads the second parameter of the subscribe. Throws RequestError `invalid_params`. */
export function parseWalletFilter(value: unknown): WalletFilter {
  if (!isObject(value)) throw invalidParams('wallet_transfers needs an object with the address to watch');
  return {
    wallet: address(value.address, 'address'),
    direction: direction(value.direction),
    native: flag(value.includeNative, 'includeNative'),
    tokens: flag(value.includeTokens, 'includeTokens'),
    fromBlock: block(value.fromBlock),
  };
}

/** Reads the parameters of `atlas_subscribe`: the filter, or a list that holds it, or nothing. Throws RequestError `invalid_params`. */
export function parseSignalFilter(params: unknown): SignalFilter {
  const value = (Array.isArray(params) ? params[0] : params) ?? {};
  if (!isObject(value)) throw invalidParams('the parameters must be an object');
  return {
    wallets: addresses(value.wallets, 'wallets'),
    tokens: addresses(value.tokens, 'tokens'),
    events: new Set(list(value.events, 'events').map(event)),
    fromBlock: block(value.fromBlock),
  };
}

function address(value: unknown, name: string): string {
  if (typeof value !== 'string' || !ADDRESS.test(value)) {
    throw invalidParams(`${name} must be an address: 0x and 40 hex digits`);
  }
  return value.slice(2).toLowerCase();
}

function addresses(value: unknown, name: string): Set<string> {
  const items = list(value, name);
  if (items.length > MAX_ADDRESSES) throw invalidParams(`${name} holds more than ${MAX_ADDRESSES} addresses`);
  return new Set(items.map((item, i) => address(item, `${name}[${i}]`)));
}

function list(value: unknown, name: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidParams(`${name} must be an array`);
  return value;
}

function event(value: unknown): SignalEvent {
  if (!isEvent(value)) throw invalidParams(`events may hold ${SIGNAL_EVENTS.join(', ')}`);
  return value;
}

function isEvent(value: unknown): value is SignalEvent {
  return typeof value === 'string' && EVENTS.has(value);
}

function direction(value: unknown): WalletFilter['direction'] {
  if (value === undefined || value === null) return 'both';
  if (!isDirection(value)) throw invalidParams('direction must be in, out or both');
  return value;
}

function isDirection(value: unknown): value is WalletFilter['direction'] {
  return typeof value === 'string' && DIRECTIONS.has(value);
}

function flag(value: unknown, name: string): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'boolean') throw invalidParams(`${name} must be true or false`);
  return value;
}

function block(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (value === 'earliest') return 0;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  if (typeof value === 'string' && BLOCK.test(value)) return Number(value);
  throw invalidParams('fromBlock must be a block number, or a quantity such as "0x1b4"');
}
