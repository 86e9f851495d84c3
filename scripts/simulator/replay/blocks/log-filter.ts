/** The filter of `eth_getLogs` and of `eth_subscribe ["logs", ..]`. */
import { isObject } from '../../../../src/lib/text.ts';

export interface LogFilter {
  /** Lower-case addresses, one of which must match; null matches all. */
  addresses: ReadonlySet<string> | null;
  /** Per position the lower-case topics, one of which must match, null for any; null matches all. */
  topics: (ReadonlySet<string> | null)[] | null;
}

/** A log with the fields that filters compare in lower case. */
export interface IndexedLog {
  address: string;
  topics: string[];
  /** The log as JSON. */
  json: string;
}

export function parseLogFilter(filter: unknown): LogFilter {
  const { address, topics } = isObject(filter) ? filter : {};
  return {
    addresses: anyOf(address),
    topics: Array.isArray(topics) && topics.length > 0 ? topics.map(anyOf) : null,
  };
}

export function matchesLog({ addresses, topics }: LogFilter, log: IndexedLog): boolean {
  if (addresses && !addresses.has(log.address)) return false;
  if (!topics) return true;
  if (topics.length > log.topics.length) return false;
  return topics.every((wanted, position) => !wanted || wanted.has(log.topics[position]!));
}

/** A value or a list of alternatives as a set; null, absent and an empty list match all. */
function anyOf(value: unknown): ReadonlySet<string> | null {
  if (value === null || value === undefined) return null;
  const alternatives: unknown[] = Array.isArray(value) ? value : [value];
  if (alternatives.length === 0) return null;
  return new Set(alternatives.map((alternative) => String(alternative).toLowerCase()));
}
