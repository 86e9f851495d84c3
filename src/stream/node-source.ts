/** The node as all streams share it: one WebSocket for what it announces, and calls over HTTP. */
import type { Logger } from '../log.ts';
import type { RpcClient } from '../upstream/client.ts';
import { NodeFeed } from '../upstream/feed.ts';

export interface NodeSourceOptions {
  /** The node's WebSocket, empty when it has none. */
  wsUrl: string;
  client: RpcClient;
  log: Logger;
}

export class NodeSource {
  readonly client: RpcClient;
  /** What the node announces; null when it has no WebSocket. Connects with the first subscription. */
  readonly feed: NodeFeed | null;
  private readonly listeners = new Set<(connected: boolean) => void>();

  constructor({ wsUrl, client, log }: NodeSourceOptions) {
    this.client = client;
    this.feed =
      wsUrl === ''
        ? null
        : new NodeFeed({
            url: wsUrl,
            onConnected: () => this.tell(true),
            onDisconnected: (error, retryInMs) => {
              log.warn({ err: error, retryInMs }, 'the announcements of the node broke off');
              this.tell(false);
            },
          });
  }

  /** Calls back when the announcements begin (before the first of them) and when they break off. Returns the function that ends it. */
  onConnection(listener: (connected: boolean) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.listeners.clear();
    await this.feed?.close();
    await this.client.close();
  }

  private tell(connected: boolean): void {
    for (const listener of [...this.listeners]) listener(connected);
  }
}
