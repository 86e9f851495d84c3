/** The connection to the node that all streams share: one WebSocket for announcements, and calls over HTTP. */
import type { Logger } from '../log.ts';
import type { RpcClient } from '../upstream/client.ts';
import { NodeFeed } from '../upstream/feed.ts';

export interface NodeConnectionOptions {
  /** The node's WebSocket, empty when it has none. */
  wsUrl: string;
  client: RpcClient;
  log: Logger;
}

export class NodeConnection {
  readonly client: RpcClient;
  /** The node's announcements; null when it has no WebSocket. Connects with the first subscription. */
  readonly feed: NodeFeed | null;
  /** Whether the loss was logged: once, not for every attempt to reconnect. */
  private isLost = false;
  private readonly listeners = new Set<(connected: boolean) => void>();

  constructor({ wsUrl, client, log }: NodeConnectionOptions) {
    this.client = client;
    this.feed =
      wsUrl === ''
        ? null
        : new NodeFeed({
            url: wsUrl,
            onConnected: () => {
              this.isLost = false;
              this.notifyListeners(true);
            },
            onDisconnected: (error, retryInMs) => {
              if (!this.isLost)
                log.warn({ err: error, retryInMs }, 'the announcements of the node broke off');
              this.isLost = true;
              this.notifyListeners(false);
            },
          });
  }

  /** Calls back when announcements begin (before the first) and when they stop. Returns the function that ends this. */
  onConnectionChange(listener: (connected: boolean) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.listeners.clear();
    await this.feed?.close();
    await this.client.close();
  }

  private notifyListeners(connected: boolean): void {
    for (const listener of [...this.listeners]) listener(connected);
  }
}
