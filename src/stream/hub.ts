/** All streams of the service: what can be subscribed to at each endpoint, and what they live on. */
import type { Logger } from '../log.ts';
import type { Snapshot } from '../query/snapshot.ts';
import type { Watermark } from '../types.ts';
import type { RpcClient } from '../upstream/client.ts';
import { Chain } from './chain.ts';
import { Heads } from './heads.ts';
import { parseLogFilter } from './log-filter.ts';
import { Logs } from './logs.ts';
import { NodeSource } from './node-source.ts';
import { Session, type StreamMetrics, type Topic } from './session.ts';
import type { Outlet } from './subscription.ts';
import { parseSignalFilter, parseWalletFilter } from './transfer-filter.ts';
import { transferReads } from './transfer-reads.ts';
import { Transfers } from './transfers.ts';
import { SignalWatcher, WalletWatcher } from './watcher.ts';

export interface HubOptions {
  /** Connection to the index, and its snapshot. */
  db: Parameters<typeof transferReads>[0];
  snapshot: Snapshot;
  node: {
    /** Empty when the node has no WebSocket. */
    wsUrl: string;
    /** Closed with the hub. */
    client: RpcClient;
    pollMs: number;
  };
  nativeSymbol: string;
  /** Subscriptions of one connection. */
  maxSubscriptions: number;
  /** Bytes that may wait for a client. */
  maxBacklogBytes: number;
  metrics: StreamMetrics;
  log: Logger;
}

/** The one topic of signals, which has no name of its own there. */
export const SIGNALS = 'signals';

export class StreamHub {
  private readonly options: HubOptions;
  private readonly source: NodeSource;
  private readonly chain: Chain;
  private readonly logs: Logs;
  private readonly transfers: Transfers;
  private readonly topics: Record<'eth' | 'signals', ReadonlyMap<string, Topic>>;

  constructor(options: HubOptions) {
    const { db, snapshot, node, nativeSymbol, metrics, log } = options;
    this.options = options;
    this.source = new NodeSource({ ...node, log });
    this.chain = new Chain({ source: this.source, pollMs: node.pollMs, log });
    const heads = new Heads(this.chain);
    this.logs = new Logs(this.chain, node.client, log);
    const transfers = new Transfers({ reads: transferReads(db, snapshot), nativeSymbol, metrics, log });
    this.transfers = transfers;
    this.topics = {
      eth: new Map<string, Topic>([
        ['newHeads', (_params, subscription) => heads.open(subscription)],
        ['logs', ([filter], subscription) => this.logs.open(parseLogFilter(filter), subscription)],
        [
          'wallet_transfers',
          ([value], subscription) => {
            const filter = parseWalletFilter(value);
            return transfers.open(new WalletWatcher(subscription, filter), filter.fromBlock !== null);
          },
        ],
      ]),
      signals: new Map<string, Topic>([
        [
          SIGNALS,
          (params, subscription) => {
            const filter = parseSignalFilter(params);
            return transfers.open(new SignalWatcher(subscription, filter), filter.fromBlock !== null);
          },
        ],
      ]),
    };
  }

  /** The subscriptions of a new connection. */
  session(endpoint: 'eth' | 'signals', outlet: Outlet): Session {
    const { maxSubscriptions, maxBacklogBytes, metrics } = this.options;
    const topics = this.topics[endpoint];
    return new Session({ topics, outlet, maxSubscriptions, maxHeldBytes: maxBacklogBytes, metrics });
  }

  /** To be called with every watermark of the writer, after the snapshot was let go. */
  onWatermark(mark: Watermark): void {
    this.transfers.onWatermark(mark);
  }

  async close(): Promise<void> {
    this.transfers.close();
    this.logs.close();
    this.chain.close();
    await this.source.close();
  }
}
