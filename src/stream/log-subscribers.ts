/** Finds the subscribers for a log without testing every filter: filters are indexed by address or first topic. */
import { type LogFilter, matchesLog, type NodeLog } from './log-filter.ts';
import type { Subscription } from './subscription.ts';

export interface LogSubscriber {
  readonly filter: LogFilter;
  readonly subscription: Subscription;
  /** The last block before the subscription: in LogStream counted as announced, in ChainLogStream its height. */
  readonly since: number;
}

export class LogSubscribers {
  private readonly byAddress = new Map<string, Set<LogSubscriber>>();
  /** Those that name a first topic but no address. */
  private readonly byTopic = new Map<string, Set<LogSubscriber>>();
  private readonly unindexed = new Set<LogSubscriber>();
  private readonly everyone = new Set<LogSubscriber>();

  get all(): ReadonlySet<LogSubscriber> {
    return this.everyone;
  }

  add(subscriber: LogSubscriber): void {
    this.everyone.add(subscriber);
    for (const bucket of this.bucketsFor(subscriber)) bucket.add(subscriber);
  }

  delete(subscriber: LogSubscriber): void {
    this.everyone.delete(subscriber);
    this.unindexed.delete(subscriber);
    remove(this.byAddress, subscriber.filter.addresses, subscriber);
    remove(this.byTopic, subscriber.filter.topics[0] ?? null, subscriber);
  }

  /** Calls back with each subscriber whose filter a log of block `blockNumber` passes. */
  forEachMatch(log: NodeLog, blockNumber: number, onMatch: (subscriber: LogSubscriber) => void): void {
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

  private bucketsFor({ filter }: LogSubscriber): Set<LogSubscriber>[] {
    if (filter.addresses !== null)
      return [...filter.addresses].map((address) => bucketAt(this.byAddress, address));
    const first = filter.topics[0] ?? null;
    return first === null ? [this.unindexed] : [...first].map((topic) => bucketAt(this.byTopic, topic));
  }
}

function bucketAt(map: Map<string, Set<LogSubscriber>>, key: string): Set<LogSubscriber> {
  let bucket = map.get(key);
  if (bucket === undefined) {
    bucket = new Set();
    map.set(key, bucket);
  }
  return bucket;
}

function remove(
  map: Map<string, Set<LogSubscriber>>,
  keys: ReadonlySet<string> | null,
  subscriber: LogSubscriber,
): void {
  for (const key of keys ?? []) {
    const bucket = map.get(key);
    bucket?.delete(subscriber);
    if (bucket?.size === 0) map.delete(key);
  }
}
