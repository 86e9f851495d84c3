/** A client's subscription: where notices go, and the rule that none goes out before the subscribe reply. */
import type { CloseCode } from './close-code.ts';
import { SLOW_CONSUMER } from './closing.ts';
import { type Notice, newSubscriptionId } from './notice.ts';

/** The connection of a client, as the streams see it. */
export interface Outlet {
  /** Bytes that were pushed and are not sent yet. */
  readonly backlog: number;
  /** Sends a notice soon, in the order of the calls. Closes the connection when its backlog grows too large. */
  push(notice: Notice, id: Uint8Array): void;
  /** Calls back once, when the backlog is sent; never when the connection ends first. */
  whenDrained(callback: () => void): void;
  /** Ends the connection; `reason` tells the client why in at most 123 bytes. */
  close(code: CloseCode, reason: string): void;
}

/** Counts the notifications of one topic. A plain number, since it is raised for every one of them. */
export interface NotificationCount {
  total: number;
}

export class Subscription {
  readonly id = newSubscriptionId();
  readonly topic: string;
  readonly outlet: Outlet;
  /** Memory of its own: a small Buffer would keep the 8 KiB of Node's pool that it was cut from. */
  private readonly idBytes = new Uint8Array(Buffer.from(this.id));
  private readonly sent: NotificationCount;
  private readonly maxHeldBytes: number;
  /** Notices from before the reply; null from `release` on. */
  private held: Notice[] | null = [];
  private heldBytes = 0;
  private whenReleased: (() => void)[] = [];

  constructor(topic: string, outlet: Outlet, sent: NotificationCount, maxHeldBytes: number) {
    this.topic = topic;
    this.outlet = outlet;
    this.sent = sent;
    this.maxHeldBytes = maxHeldBytes;
  }

  push(notice: Notice): void {
    if (this.held === null) return this.send(notice);
    this.held.push(notice);
    this.heldBytes += notice.bytes;
    // The reply to a subscribe in a batch waits for the slowest call of it, so what waits here needs a bound, too.
    if (this.heldBytes > this.maxHeldBytes) this.outlet.close(...SLOW_CONSUMER);
  }

  /** The reply is on its way: what was held follows it. */
  release(): void {
    const held = this.held ?? [];
    this.held = null;
    for (const notice of held) this.send(notice);
    for (const callback of this.whenReleased.splice(0)) callback();
  }

  /** Calls back when the reply is on its way. */
  onRelease(callback: () => void): void {
    if (this.held === null) callback();
    else this.whenReleased.push(callback);
  }

  private send(notice: Notice): void {
    this.sent.total++;
    this.outlet.push(notice, this.idBytes);
  }
}
