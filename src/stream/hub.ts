/** All streams of the service: the topics of each endpoint, and their sources. */
import { isObject } from '../lib/is-object.ts';
import type { Logger } from '../log.ts';
import type { StreamReads } from '../query/stream-reads.ts';
import type { Watermark } from '../types.ts';
import type { RpcClient } from '../upstream/client.ts';
import { Chain } from './chain.ts';
import { ChainLogs } from './chain-logs.ts';
import { Heads } from './heads.ts';
import { parseLogFilter } from './log-filter.ts';
import { Logs } from './logs.ts';
import { NodeSource } from './node-source.ts';
import { NotificationCounts } from './notification-counts.ts';
import { notOffered, Pending } from './pending.ts';
import { invalidParams } from './refusals.ts';
import { Session, type StreamMetrics, type Topic } from './session.ts';
import type { Outlet } from './subscription.ts';
import { parseSignalFilter, parseWalletFilter } from './transfer-filter.ts';
import { Transfers } from './transfers.ts';
import { SignalWatcher, WalletWatcher } from './watcher.ts';

export interface HubOptions {
  /** Reads from the index. */
  reads: StreamReads;
  node: {
    /** Empty when the node has no WebSocket. */
    wsUrl: string;
    /** Closed with the hub. */
    client: RpcClient;
    pollMs: number;
  };
  nativeSymbol: string;
  /** Whether `newPendingTransactions` is offered, if the node offers it. */
  pending: boolean;
  /** Most subscriptions of one connection. */
  maxSubscriptions: number;
  /** Most bytes that may wait for a client. */
  maxBacklogBytes: number;
  metrics: StreamMetrics;
  log: Logger;
}

/** The name here of the only topic at `/ws/signals`; clients do not name it. */
export const SIGNALS = 'signals';

export class StreamHub {
  private readonly options: HubOptions;
  private readonly counts: NotificationCounts;
  private readonly source: NodeSource;
  private readonly chain: Chain;
  private readonly logs: Logs;
  private readonly chainLogs: ChainLogs;
  private readonly transfers: Transfers;
  private readonly topics: Record<'eth' | 'signals', ReadonlyMap<string, Topic>>;

  constructor(options: HubOptions) {
    const { reads, node, nativeSymbol, metrics, log } = options;
    this.options = options;
    this.counts = new NotificationCounts(metrics);
    this.source = new NodeSource({ ...node, log });
    this.chain = new Chain({ source: this.source, pollMs: node.pollMs, log });
    this.logs = new Logs(this.chain, node.client, log);
    this.chainLogs = new ChainLogs(this.chain, this.source, log);
    this.transfers = new Transfers({ reads, nativeSymbol, metrics, log });
    this.topics = { eth: this.ethTopics(), signals: new Map([[SIGNALS, this.openSignals]]) };
  }

  /** The subscriptions of a new connection. */
  session(endpoint: 'eth' | 'signals', outlet: Outlet): Session {
    const { maxSubscriptions, maxBacklogBytes, metrics } = this.options;
    const topics = this.topics[endpoint];
    const { counts } = this;
    return new Session({ topics, outlet, maxSubscriptions, maxHeldBytes: maxBacklogBytes, metrics, counts });
  }

  /** Call it with every watermark of the writer, after the snapshot is released. */
  onWatermark(mark: Watermark): void {
    this.transfers.onWatermark(mark);
  }

  private ethTopics(): ReadonlyMap<string, Topic> {
    const heads = new Heads(this.chain);
    return new Map<string, Topic>([
      ['newHeads', (_params, subscription) => heads.open(subscription)],
      ['logs', ([filter], subscription) => this.logs.open(parseLogFilter(filter), subscription)],
      ['chainLogs', this.openChainLogs],
      ['newPendingTransactions', this.pendingTopic()],
      ['wallet_transfers', this.openWallet],
    ]);
  }

  private readonly openChainLogs: Topic = async ([options], subscription) => {
    const filter = parseLogFilter(options);
    const end = await this.chainLogs.open(filter, wantsEveryState(options), subscription);
    return end ?? this.logs.open(filter, subscription);
  };

  private pendingTopic(): Topic {
    if (!this.options.pending) {
      return () => {
        throw invalidParams('newPendingTransactions is switched off here (stream.pending)');
      };
    }
    const { feed } = this.source;
    const pending = feed && new Pending(feed, this.options.log);
    return ([full], subscription) => {
      if (pending === null) throw notOffered();
      return pending.open(full, subscription);
    };
  }

  private readonly openWallet: Topic = ([value], subscription) => {
    const filter = parseWalletFilter(value);
    return this.transfers.open(new WalletWatcher(subscription, filter), filter.fromBlock !== null);
  };

  private readonly openSignals: Topic = (params, subscription) => {
    const filter = parseSignalFilter(params);
    return this.transfers.open(new SignalWatcher(subscription, filter), filter.fromBlock !== null);
  };

  async close(): Promise<void> {
    this.transfers.close();
    this.logs.close();
    this.chainLogs.close();
    this.chain.close();
    await this.source.close();
  }
}

/** `{"commitStates": true}` beside the members of a log filter. */
function wantsEveryState(options: unknown): boolean {
  return isObject(options) && options.commitStates === true;
}
