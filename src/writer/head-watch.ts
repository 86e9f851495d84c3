/** Waiting for the node's next head: until the polling interval is over, or until the node announces one. */
import type { UpstreamError } from '../errors.ts';
import { abortWith } from '../lib/abort-with.ts';
import { pause } from '../lib/backoff.ts';
import { NodeFeed } from '../upstream/feed.ts';

export class HeadWatch {
  private readonly pollMs: number;
  private readonly feed: NodeFeed | null;
  private wake: AbortController | null = null;
  /** A head was announced while nobody waited. */
  private announced = false;
  private isLost = false;
  private chainId: number | null = null;
  private readonly onLost: (message: string) => void;

  /**
   * `wsUrl` is empty when the node offers no WebSocket; `onLost` is called when announcements stop or cannot begin, not
   * for every try to get them; `onChainId` when it is known that the WebSocket
   * leads to a chain, or to another one than before.
   */
  constructor(
    wsUrl: string,
    pollMs: number,
    onLost: (message: string) => void,
    onChainId: (chainId: number) => void,
  ) {
    this.pollMs = pollMs;
    this.onLost = onLost;
    const onFailure = (error: UpstreamError) => this.reportLoss(error);
    this.feed =
      wsUrl === ''
        ? null
        : new NodeFeed({
            url: wsUrl,
            onChainId: (chainId) => {
              if (chainId !== this.chainId) onChainId(chainId);
              this.chainId = chainId;
            },
            onDisconnected: onFailure,
          });
    this.feed?.subscribe(
      ['newHeads'],
      () => this.announce(),
      onFailure,
      () => {
        this.isLost = false;
      },
    );
  }

  /** Resolves when the polling interval is over, a head is announced or the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.announced) {
      this.wake = new AbortController();
      const unlink = abortWith(this.wake, signal);
      await pause(this.pollMs, this.wake.signal);
      unlink();
      this.wake = null;
    }
    this.announced = false;
  }

  async close(): Promise<void> {
    await this.feed?.close();
  }

  private reportLoss({ message }: UpstreamError): void {
    if (!this.isLost) this.onLost(message);
    this.isLost = true;
  }

  private announce(): void {
    this.announced = true;
    this.wake?.abort();
  }
}
