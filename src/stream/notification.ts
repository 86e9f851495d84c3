/**
 * Notifications serialised once for all their receivers. Only the subscription id differs between receivers, and all
 * ids have the same length, so the id is written into the finished message just before it is sent.
 */
import { randomBytes } from 'node:crypto';
import { bytesToHex } from '../lib/hex.ts';

/** `0x` and 32 hex digits. */
const ID_CHARS = 34;
const ID_PLACE = Buffer.alloc(ID_CHARS, '0').toString();

/** A new subscription id: 16 random bytes, leading zeros kept. */
export function newSubscriptionId(): string {
  return bytesToHex(randomBytes(16));
}

/** The method of a notification, by endpoint. */
export type NotificationMethod = 'eth_subscription' | 'atlas_subscription';

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

  /** Length of the message in bytes. */
  get byteLength(): number {
    return this.message.length;
  }

  /** The message for the subscription `id` (ASCII bytes). All calls share one buffer: send it before the next call. */
  messageFor(id: Uint8Array): Buffer {
    this.message.set(id, this.idOffset);
    return this.message;
  }
}
