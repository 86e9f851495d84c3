/** Waits for the node's next head: until the node announces one, at most for the polling interval. */

import { WakeablePause } from '../lib/async.ts';
import type { UpstreamError } from '../lib/errors.ts';
import { NodeSubscriptions } from '../node/connection.ts';

interface HeadWatchEvents {
  /** Announcements stopped or cannot start. Called once, not for each reconnect. */
  onLost(message: string): void;
  /** An announced head, unchecked. */
  onHead?(head: unknown): void;
  /** The chain id behind the WebSocket. Called again when it changes. */
  onChainId(chainId: number): void;
}

export class HeadWatch {
  private readonly pollMs: number;
  private readonly events: HeadWatchEvents;
  private readonly subscriptions: NodeSubscriptions | null;
  private readonly pause = new WakeablePause();
  private isLost = false;
  private chainId: number | null = null;

  /** `wsUrl` is empty if the node has no WebSocket. */
  constructor(wsUrl: string, pollMs: number, events: HeadWatchEvents) {
    this.pollMs = pollMs;
    this.events = events;
    const onDisconnected = (error: UpstreamError) => this.reportLoss(error);
    const onChainId = (chainId: number) => this.reportChain(chainId);
    this.subscriptions =
      wsUrl === '' ? null : new NodeSubscriptions({ url: wsUrl, onChainId, onDisconnected });
    this.subscriptions?.subscribe(
      ['newHeads'],
      (head) => {
        this.pause.wake();
        this.events.onHead?.(head);
      },
      onDisconnected,
      () => {
        this.isLost = false;
      },
    );
  }

  /** Resolves when the polling interval is over, a head is announced or the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    return this.pause.wait(this.pollMs, signal);
  }

  async close(): Promise<void> {
    await this.subscriptions?.close();
  }

  private reportLoss({ message }: UpstreamError): void {
    if (!this.isLost) this.events.onLost(message);
    this.isLost = true;
  }

  private reportChain(chainId: number): void {
    if (chainId !== this.chainId) this.events.onChainId(chainId);
    this.chainId = chainId;
  }
}
