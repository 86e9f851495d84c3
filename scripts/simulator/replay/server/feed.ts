import { createHash } from 'node:crypto';
import type { StoredBlock } from '../blocks/block.ts';
import type { BlockReader } from '../blocks/block-reader.ts';
import { type LogFilter, parseLogFilter } from '../blocks/log-filter.ts';
import type { Methods } from '../methods/method.ts';
import { invalidParams } from '../rpc-error.ts';
import { jsonBytes } from '../rpc-json.ts';

/** `heads`, or the filter of a `logs` subscription. */
type Subscription = 'heads' | LogFilter;

/** One connection's subscriptions. */
interface Subscriber {
  send(text: string): void;
  subscriptions: Map<string, Subscription>;
}

/** Notifies every subscriber of new heads and their logs, in order. */
export class Feed {
  private readonly reader: BlockReader;
  private readonly subscribers = new Set<Subscriber>();
  private subscriptionCount = 0;

  constructor(reader: BlockReader) {
    this.reader = reader;
  }

  add(send: Subscriber['send']): Subscriber {
    const subscriber = { send, subscriptions: new Map<string, Subscription>() };
    this.subscribers.add(subscriber);
    return subscriber;
  }

  remove(subscriber: Subscriber): void {
    this.subscribers.delete(subscriber);
  }

  /** The methods a connection with subscriptions has. */
  methodsOf(subscriber: Subscriber): Methods {
    return {
      eth_subscribe: ([kind, filter]) => {
        if (kind !== 'newHeads' && kind !== 'logs') throw invalidParams();
        const id = subscriptionId(++this.subscriptionCount);
        subscriber.subscriptions.set(id, kind === 'newHeads' ? 'heads' : parseLogFilter(filter));
        return jsonBytes(id);
      },
      eth_unsubscribe: ([id]) => jsonBytes(subscriber.subscriptions.delete(String(id))),
    };
  }

  /** A block became canonical: sends its header, then its logs. */
  announce(block: StoredBlock): void {
    if (this.subscribers.size === 0) return;
    const header = this.reader.headerJson(block);
    for (const { send, subscriptions } of this.subscribers) {
      for (const [id, subscription] of subscriptions) {
        const results = subscription === 'heads' ? [header] : this.logsFor(block, subscription);
        for (const result of results) send(notification(id, result));
      }
    }
  }

  private logsFor(block: StoredBlock, filter: LogFilter): string[] {
    return block.receipts ? this.reader.matchingLogs(block, filter) : [];
  }
}

function notification(id: string, result: string): string {
  return `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${result}}}`;
}

/** 16 bytes, deterministic. */
function subscriptionId(count: number): string {
  return `0x${createHash('sha256').update(`sub${count}`).digest('hex').slice(0, 32)}`;
}
