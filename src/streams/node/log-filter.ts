/** Filters of `logs` subscriptions, which match what `eth_getLogs` returns, and the subscribers by filter. */
import { isObject } from '../../lib/text.ts';
import { ADDRESS_PATTERN } from '../../model/address.ts';
import { isWildcard, topicsMistake, withoutTrailingWildcards } from '../../model/log-topics.ts';
import { BLOCK_PATTERN, HASH_PATTERN } from '../../model/stream-filters.ts';
import { assertKnownMembers, invalidParams } from '../subscribe-errors.ts';
import type { Subscription } from '../subscription.ts';

/** The log fields that filters read, in lower case. */
export interface NodeLog {
  address: string;
  topics: string[];
  blockNumber: string;
  blockHash: string;
  logIndex: string;
}

/** Addresses and topics are in lower case; null matches anything. */
export interface LogFilter {
  addresses: ReadonlySet<string> | null;
  /** By position, without trailing wildcards. A log with fewer topics than positions never matches. */
  topics: readonly (ReadonlySet<string> | null)[];
  /** First and last matching block. */
  from: number;
  to: number;
}

/** Limit of geth. */
const MAX_ALTERNATIVES = 1_000;

const LOG_MEMBERS = ['address', 'topics', 'fromBlock', 'toBlock'];
const CHAIN_LOG_MEMBERS = [...LOG_MEMBERS, 'commitStates'];

/**
 * Parses the second parameter of eth_subscribe; absent or null matches every log. Throws RequestError `invalid_params`.
 */
export function parseLogFilter(value: unknown): LogFilter {
  return readLogFilter(filterObject(value), LOG_MEMBERS);
}

/** Like `parseLogFilter`, for `chainLogs`; `everyState` requests each change of a log's commit state. */
export function parseChainLogFilter(value: unknown): { filter: LogFilter; everyState: boolean } {
  const object = filterObject(value);
  const everyState = object.commitStates ?? false;
  if (typeof everyState !== 'boolean') throw invalidParams('commitStates must be true or false');
  return { filter: readLogFilter(object, CHAIN_LOG_MEMBERS), everyState };
}

function filterObject(value: unknown): Readonly<Record<string, unknown>> {
  const filter = value ?? {};
  if (!isObject(filter)) throw invalidParams('the filter must be an object');
  return filter;
}

function readLogFilter(filter: Readonly<Record<string, unknown>>, members: readonly string[]): LogFilter {
  const { blockHash, ...rest } = filter;
  if (blockHash !== undefined && blockHash !== null) {
    throw invalidParams('blockHash selects past logs; use eth_getLogs');
  }
  assertKnownMembers(rest, members);
  const from = parseBlockBound(filter.fromBlock, 'fromBlock', 0);
  const to = parseBlockBound(filter.toBlock, 'toBlock', Number.POSITIVE_INFINITY);
  if (to < from) throw invalidParams('invalid block range: toBlock is below fromBlock');
  const addresses = parseAlternatives(filter.address, ADDRESS_PATTERN, 'address');
  return { addresses, topics: parseTopics(filter.topics), from, to };
}

/** Whether a log of a block matches. */
export function matchesLog(filter: LogFilter, log: NodeLog, blockNumber: number): boolean {
  if (blockNumber < filter.from || blockNumber > filter.to) return false;
  if (filter.addresses !== null && !filter.addresses.has(log.address)) return false;
  if (filter.topics.length > log.topics.length) return false;
  return filter.topics.every((wanted, i) => wanted === null || wanted.has(log.topics[i] ?? ''));
}

function parseTopics(value: unknown): (ReadonlySet<string> | null)[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidParams('topics must be an array');
  const mistake = topicsMistake(value);
  if (mistake !== null) throw invalidParams(mistake);
  const positions = withoutTrailingWildcards(value);
  return positions.map((position, i) =>
    isWildcard(position) ? null : parseAlternatives(position, HASH_PATTERN, `topics[${i}]`),
  );
}

/** Parses one value or a list of values; null if absent. */
function parseAlternatives(value: unknown, pattern: RegExp, name: string): ReadonlySet<string> | null {
  if (value === undefined || value === null) return null;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) return null;
  if (list.length > MAX_ALTERNATIVES)
    throw invalidParams(`${name} has more than ${MAX_ALTERNATIVES} alternatives`);
  return new Set(
    list.map((item) => {
      if (typeof item !== 'string' || !pattern.test(item)) {
        throw invalidParams(
          `${name} must be ${pattern === ADDRESS_PATTERN ? '0x and 40' : '0x and 64'} hex digits, or an array of these`,
        );
      }
      return item.toLowerCase();
    }),
  );
}

/** Subscriptions concern future blocks, so tags for the head or genesis set no bound. */
function parseBlockBound(value: unknown, name: string, unbounded: number): number {
  if (
    value === undefined ||
    value === null ||
    value === 'latest' ||
    value === 'earliest' ||
    value === 'pending'
  ) {
    return unbounded;
  }
  if (typeof value === 'string' && BLOCK_PATTERN.test(value)) return Number(value);
  throw invalidParams(
    `${name} must be a quantity such as "0x1b4" or "latest": a subscription covers future blocks only`,
  );
}

export interface LogSubscriber {
  readonly filter: LogFilter;
  readonly subscription: Subscription;
  /** The last block before the subscription: LogStream's block count, or in ChainLogStream the block's height. */
  readonly since: number;
}

/**
 * Finds the subscribers that want a log without testing every filter: filters are indexed by address or first topic.
 */
export class LogSubscribers<S extends LogSubscriber = LogSubscriber> {
  private readonly byAddress = new Map<string, Set<S>>();
  /** Subscribers whose filter has a first topic but no address. */
  private readonly byTopic = new Map<string, Set<S>>();
  private readonly unindexed = new Set<S>();
  private readonly everyone = new Set<S>();

  get all(): ReadonlySet<S> {
    return this.everyone;
  }

  add(subscriber: S): void {
    this.everyone.add(subscriber);
    for (const bucket of this.bucketsFor(subscriber)) bucket.add(subscriber);
  }

  delete(subscriber: S): void {
    this.everyone.delete(subscriber);
    this.unindexed.delete(subscriber);
    remove(this.byAddress, subscriber.filter.addresses, subscriber);
    remove(this.byTopic, subscriber.filter.topics[0] ?? null, subscriber);
  }

  /** Calls `onMatch` with each subscriber whose filter matches a log of block `blockNumber`. */
  forEachMatch(log: NodeLog, blockNumber: number, onMatch: (subscriber: S) => void): void {
    for (const candidates of [
      this.byAddress.get(log.address),
      this.byTopic.get(log.topics[0] ?? ''),
      this.unindexed,
    ]) {
      if (candidates === undefined) continue;
      for (const subscriber of candidates) {
        if (matchesLog(subscriber.filter, log, blockNumber)) onMatch(subscriber);
      }
    }
  }

  private bucketsFor({ filter }: S): Set<S>[] {
    if (filter.addresses !== null)
      return [...filter.addresses].map((address) => bucketAt(this.byAddress, address));
    const first = filter.topics[0] ?? null;
    return first === null ? [this.unindexed] : [...first].map((topic) => bucketAt(this.byTopic, topic));
  }
}

function bucketAt<S>(map: Map<string, Set<S>>, key: string): Set<S> {
  let bucket = map.get(key);
  if (bucket === undefined) {
    bucket = new Set<S>();
    map.set(key, bucket);
  }
  return bucket;
}

function remove<S>(map: Map<string, Set<S>>, keys: ReadonlySet<string> | null, subscriber: S): void {
  for (const key of keys ?? []) {
    const bucket = map.get(key);
    bucket?.delete(subscriber);
    if (bucket?.size === 0) map.delete(key);
  }
}
