/**
 * Finds the subscribers that want a log without testing every filter: filters are indexed by address or first topic.
 */

import type { Subscription } from '../subscription.ts';
import { type LogFilter, matchesLog, type NodeLog } from './log-filter.ts';

export interface LogSubscriber {
  readonly filter: LogFilter;
  readonly subscription: Subscription;
  /** The last block before the subscription: LogStream's block count, or in ChainLogStream the block's height. */
  readonly since: number;
}

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
