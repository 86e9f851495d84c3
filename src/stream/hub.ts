/** All streams of the service: the topics of each endpoint, and their sources. */
import { isObject } from '../lib/is-object.ts';
import type { Logger } from '../log.ts';
import type { StreamReads } from '../query/stream-reads.ts';
import type { CommittingBlocks, Watermark } from '../types.ts';
import type { RpcClient } from '../upstream/client.ts';
import { ChainFollower } from './chain-follower.ts';
import { ChainLogStream } from './chain-log-stream.ts';
import { HeadStream } from './head-stream.ts';
import { parseLogFilter } from './log-filter.ts';
import { LogStream } from './log-stream.ts';
import { NodeConnection } from './node-connection.ts';
import { NotificationCounts } from './notification-counts.ts';
import { PendingTransactionStream, pendingNotOffered } from './pending-transaction-stream.ts';
import { Session, type StreamMetrics, type TopicHandler } from './session.ts';
import { invalidParams } from './subscribe-errors.ts';
import type { ClientConnection } from './subscription.ts';
import { parseSignalFilter, parseWalletFilter } from './transfer-filter.ts';
import { TransferStream } from './transfer-stream.ts';
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
  /** Called before clients are told of a block, which they may then ask the node about. */
  onNews: () => void;
  /** Called before clients are told that the index was rolled back to a block. */
  onRolledBack: (to: number) => void;
  metrics: StreamMetrics;
  log: Logger;
}

/** The name here of the only topic at `/ws/signals`; clients do not name it. */
export const SIGNALS_TOPIC = 'signals';

export class StreamHub {
  private readonly options: HubOptions;
  private readonly counts: NotificationCounts;
  private readonly nodeConnection: NodeConnection;
  private readonly chain: ChainFollower;
  private readonly logs: LogStream;
  private readonly chainLogs: ChainLogStream;
  private readonly transfers: TransferStream;
  private readonly handlers: Record<'eth' | 'signals', ReadonlyMap<string, TopicHandler>>;

  constructor(options: HubOptions) {
    const { reads, node, nativeSymbol, metrics, log } = options;
    this.options = options;
    this.counts = new NotificationCounts(metrics);
    this.nodeConnection = new NodeConnection({ ...node, log });
    this.chain = new ChainFollower({ node: this.nodeConnection, pollMs: node.pollMs, log });
    const { onNews } = options;
    this.chain.addListener({ onBlockAdded: onNews, onBlocksRemoved: onNews, onDeepReorg: onNews });
    this.logs = new LogStream(this.chain, node.client, log);
    this.chainLogs = new ChainLogStream(this.chain, this.nodeConnection, log);
    this.transfers = new TransferStream({ reads, nativeSymbol, metrics, log });
    this.handlers = { eth: this.ethHandlers(), signals: new Map([[SIGNALS_TOPIC, this.subscribeSignals]]) };
  }

  /** The subscriptions of a new connection. */
  session(endpoint: 'eth' | 'signals', connection: ClientConnection): Session {
    const { maxSubscriptions, maxBacklogBytes, metrics } = this.options;
    const handlers = this.handlers[endpoint];
    const { counts } = this;
    return new Session({
      handlers,
      connection,
      maxSubscriptions,
      maxHeldBytes: maxBacklogBytes,
      metrics,
      counts,
    });
  }

  /**
   * Call it with the blocks that the writer is about to commit, after the snapshot is released. They are pushed when their
   * watermark comes.
   */
  onCommitting(blocks: CommittingBlocks): void {
    this.transfers.onCommitting(blocks);
  }

  /** Call it with every watermark of the writer, after the snapshot is released. */
  onWatermark(mark: Watermark): void {
    this.options.onNews();
    if (mark.kind === 'rolled-back') {
      this.options.onRolledBack(mark.to);
      this.chain.noteRollback(mark.to);
    }
    this.transfers.onWatermark(mark);
  }

  private ethHandlers(): ReadonlyMap<string, TopicHandler> {
    const heads = new HeadStream(this.chain);
    return new Map<string, TopicHandler>([
      ['newHeads', (_params, subscription) => heads.subscribe(subscription)],
      ['logs', ([filter], subscription) => this.logs.subscribe(parseLogFilter(filter), subscription)],
      ['chainLogs', this.subscribeChainLogs],
      ['newPendingTransactions', this.pendingHandler()],
      ['wallet_transfers', this.subscribeWalletTransfers],
    ]);
  }

  private readonly subscribeChainLogs: TopicHandler = async ([options], subscription) => {
    const filter = parseLogFilter(options);
    const unsubscribe = await this.chainLogs.subscribe(filter, wantsEveryState(options), subscription);
    return unsubscribe ?? this.logs.subscribe(filter, subscription);
  };

  private pendingHandler(): TopicHandler {
    if (!this.options.pending) {
      return () => {
        throw invalidParams('newPendingTransactions is switched off here (stream.pending)');
      };
    }
    const { feed } = this.nodeConnection;
    const pending = feed && new PendingTransactionStream(feed, this.options.log);
    return ([full], subscription) => {
      if (pending === null) throw pendingNotOffered();
      return pending.subscribe(full, subscription);
    };
  }

  private readonly subscribeWalletTransfers: TopicHandler = ([value], subscription) => {
    return this.transfers.subscribe(new WalletWatcher(subscription, parseWalletFilter(value)));
  };

  private readonly subscribeSignals: TopicHandler = (params, subscription) => {
    return this.transfers.subscribe(new SignalWatcher(subscription, parseSignalFilter(params)));
  };

  async close(): Promise<void> {
    this.transfers.close();
    this.logs.close();
    this.chainLogs.close();
    this.chain.close();
    await this.nodeConnection.close();
  }
}

/** `{"commitStates": true}` beside the members of a log filter. Throws RequestError `invalid_params`. */
function wantsEveryState(options: unknown): boolean {
  const wanted = isObject(options) ? (options.commitStates ?? false) : false;
  if (typeof wanted !== 'boolean') throw invalidParams('commitStates must be true or false');
  return wanted;
}
