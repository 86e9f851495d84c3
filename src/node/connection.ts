/** The streams' connection to the node in use: one WebSocket for subscriptions, calls over HTTP. */
import type { Logger } from '../log/logger.ts';
import type { SelectedNode } from './choice/selected-node.ts';
import type { RpcClient } from './client.ts';
import { NodeSubscriptions } from './subscriptions.ts';

interface NodeConnectionOptions {
  /** The node's WebSocket URL, empty if it has none. */
  wsUrl: string;
  /** The selection that the connection follows. Either all nodes have a WebSocket, or none has. */
  follows?: SelectedNode;
  client: RpcClient;
  log: Logger;
}

export class NodeConnection {
  readonly client: RpcClient;
  /** Null if the node has no WebSocket. The first subscription connects. */
  readonly subscriptions: NodeSubscriptions | null;
  /** Whether the loss was logged. Logs it once, not for every attempt to reconnect. */
  private isLost = false;
  private readonly listeners = new Set<(connected: boolean) => void>();
  private readonly unfollow: (() => void) | undefined;

  constructor({ wsUrl, follows, client, log }: NodeConnectionOptions) {
    this.client = client;
    this.subscriptions =
      wsUrl === ''
        ? null
        : new NodeSubscriptions({
            url: wsUrl,
            onConnected: () => {
              this.isLost = false;
              this.notifyListeners(true);
            },
            onDisconnected: (error, retryInMs) => {
              if (!this.isLost)
                log.warn({ err: error, retryInMs }, 'lost the WebSocket to the node; reconnecting');
              this.isLost = true;
              this.notifyListeners(false);
            },
          });
    this.unfollow = follows?.onSelect(() => {
      this.subscriptions?.moveTo(follows.current.ws);
      this.notifyListeners(false);
    });
  }

  /**
   * Calls the listener when the WebSocket connects, before its first notification, and when it is lost. Returns a
   * function that unsubscribes.
   */
  onConnectionChange(listener: (connected: boolean) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.listeners.clear();
    this.unfollow?.();
    await this.subscriptions?.close();
    await this.client.close();
  }

  private notifyListeners(connected: boolean): void {
    for (const listener of [...this.listeners]) listener(connected);
  }
}
