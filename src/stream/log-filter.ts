/** Filters of `logs` subscriptions, with the semantics of geth (eth/filters). */
import { ADDRESS_PATTERN } from '../lib/address.ts';
import { isObject } from '../lib/is-object.ts';
import { BLOCK_PATTERN, TOPIC_PATTERN } from './patterns.ts';
import { invalidParams } from './subscribe-errors.ts';

/** Members of a log that filters look at, as nodes write them. */
export interface NodeLog {
  address: string;
  topics: string[];
  blockNumber: string;
  blockHash: string;
  logIndex: string;
}

/** Lower-case hex. Null matches anything. */
export interface LogFilter {
  addresses: ReadonlySet<string> | null;
  /** By position; a log with fewer topics than there are positions never matches. */
  topics: readonly (ReadonlySet<string> | null)[];
  /** Blocks outside `from .. to` are left out. */
  from: number;
  to: number;
}

/** Limits of geth. */
const MAX_TOPICS = 4;
const MAX_ALTERNATIVES = 1_000;

/** Reads the second parameter of the subscribe; absent or null is every log. Throws RequestError `invalid_params`. */
export function parseLogFilter(value: unknown): LogFilter {
  const filter = value ?? {};
  if (!isObject(filter)) throw invalidParams('the filter must be an object');
  if (filter.blockHash !== undefined && filter.blockHash !== null) {
    throw invalidParams('blockHash selects logs of the past; use eth_getLogs');
  }
  const from = parseBlockBound(filter.fromBlock, 'fromBlock', 0);
  const to = parseBlockBound(filter.toBlock, 'toBlock', Number.POSITIVE_INFINITY);
  if (to < from) throw invalidParams('invalid block range: toBlock is below fromBlock');
  const addresses = parseAlternatives(filter.address, ADDRESS_PATTERN, 'address');
  return { addresses, topics: parseTopics(filter.topics), from, to };
}

/** Whether a log passes. The filter's values and the log's must both be in lower case. */
export function matchesLog(filter: LogFilter, log: NodeLog, blockNumber: number): boolean {
  if (blockNumber < filter.from || blockNumber > filter.to) return false;
  if (filter.addresses !== null && !filter.addresses.has(log.address)) return false;
  if (filter.topics.length > log.topics.length) return false;
  return filter.topics.every((wanted, i) => wanted === null || wanted.has(log.topics[i] ?? ''));
}

function parseTopics(value: unknown): (ReadonlySet<string> | null)[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidParams('topics must be an array');
  if (value.length > MAX_TOPICS) throw invalidParams(`topics has more than ${MAX_TOPICS} positions`);
  return value.map((position: unknown, i) => {
    // Null among alternatives makes the whole position match anything.
    if (Array.isArray(position) && position.includes(null)) return null;
    return parseAlternatives(position, TOPIC_PATTERN, `topics[${i}]`);
  });
}

/** One value or a list of them, in lower case; null when none is given. */
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
          `${name} must be ${pattern === ADDRESS_PATTERN ? '0x and 40' : '0x and 64'} hex digits, or an array of such`,
        );
      }
      return item.toLowerCase();
    }),
  );
}

/** A subscription is about future blocks: tags that name the head or the beginning set no bound. */
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
    `${name} must be a quantity such as "0x1b4" or "latest": a subscription is of blocks to come`,
  );
}
