/**
 * Notifications, serialised once for all subscribers. Only the subscription id differs, and all ids have the same
 * length, so the id is written into the serialised message just before sending.
 */
import { randomBytes } from 'node:crypto';
import { bytesToHex } from '../lib/hex.ts';
import { type Metrics, trackTotal } from '../metrics/metrics.ts';

/** `0x` and 32 hex digits. */
const ID_CHARS = 34;
const ID_PLACE = Buffer.alloc(ID_CHARS, '0').toString();

/** A subscription id: 16 random bytes in hex, with leading zeros. */
export function newSubscriptionId(): string {
  return bytesToHex(randomBytes(16));
}

type NotificationMethod = 'eth_subscription' | 'atlas_subscription';

const PREFIXES: Record<NotificationMethod, string> = {
  eth_subscription: messagePrefix('eth_subscription'),
  atlas_subscription: messagePrefix('atlas_subscription'),
};

function messagePrefix(method: NotificationMethod): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":{"subscription":"`;
}

export class Notification {
  private readonly message: Buffer;
  private readonly idOffset: number;

  /** `result` is JSON text. */
  constructor(method: NotificationMethod, result: string) {
    const start = PREFIXES[method];
    this.idOffset = start.length;
    this.message = Buffer.from(`${start}${ID_PLACE}","result":${result}}}`);
  }

  get byteLength(): number {
    return this.message.length;
  }

  /**
   * The message for a subscription id (ASCII bytes). All calls share one buffer, so send the message before the next
   * call.
   */
  messageFor(id: Uint8Array): Buffer {
    this.message.set(id, this.idOffset);
    return this.message;
  }
}

/** The notification count of one topic. A plain number, because every notification increments it. */
export interface NotificationCount {
  total: number;
}

/** Notifications sent, by topic: plain numbers, copied to the metrics on collection. */
export class NotificationCounts {
  private readonly byTopic = new Map<string, NotificationCount>();

  constructor(metrics: Pick<Metrics, 'notifications' | 'onCollect'>) {
    const follow = trackTotal(metrics.notifications);
    metrics.onCollect(() => {
      for (const [topic, { total }] of this.byTopic) follow(total, { topic });
    });
  }

  of(topic: string): NotificationCount {
    let count = this.byTopic.get(topic);
    if (count === undefined) {
      count = { total: 0 };
      this.byTopic.set(topic, count);
    }
    return count;
  }
}
