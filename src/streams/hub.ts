/** All streams of the service: the topics of each endpoint and their sources. */
import type { ChainTracker } from '../chain/tracker.ts';
import { UpstreamError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';
import type { CommittingBlocks, Watermark } from '../model/block-batch.ts';
import type { LabelLookup } from '../model/label.ts';
import type { NodeConnection } from '../node/connection.ts';
import type { ReadFailures } from '../query/read-failures.ts';
import type { StreamReads } from '../query/stream-reads.ts';
import { ChainLogStream } from './node/chain-log-stream.ts';
import { HeadStream } from './node/head-stream.ts';
import { parseChainLogFilter, parseLogFilter } from './node/log-filter.ts';
import { LogStream } from './node/log-stream.ts';
import { NodeTopicStream } from './node/node-topic-stream.ts';
import { type PendingListener, PendingTransactionStream } from './node/pending-transaction-stream.ts';
import { invalidParams, notOffered, onlyFilter } from './subscribe-errors.ts';
import {
  type ClientConnection,
  NotificationCounts,
  Session,
  type StreamMetrics,
  type TopicHandler,
} from './subscription.ts';
import { parseSignalFilter, parseWalletFilter } from './transfers/parse-filter.ts';
import type { StoredLists } from './transfers/transfer-filter.ts';
import { TransferStream } from './transfers/transfer-stream.ts';
import { SignalSubscription, WalletSubscription } from './transfers/transfer-subscription.ts';

interface HubOptions {
  reads: StreamReads;
  node: NodeConnection;
  chain: ChainTracker;
  nativeSymbol: string;
  labels?: LabelLookup | undefined;
  /** How long a new token's events wait for its symbol and decimals, milliseconds. */
  metadataWaitMs: number;
  /** Address lists that filters may name. */
  lists: StoredLists;
  /** Whether to offer `newPendingTransactions` if the node does. */
  pending: boolean;
  /** Most subscriptions per connection. */
  maxSubscriptions: number;
  /** Most bytes queued for one client. */
  maxBacklogBytes: number;
  /** Called before clients are notified of a block, because they may then query it. */
  onNews: () => void;
  metrics: StreamMetrics;
  /** Records failed reads of the index. */
  failures: Pick<ReadFailures, 'record'>;
  log: Logger;
}

/** Internal name of the only topic at `/ws/signals`. Clients do not send it. */
export const SIGNALS_TOPIC = 'signals';

export class StreamHub {
  private readonly options: HubOptions;
  private readonly counts: NotificationCounts;
  private readonly chain: ChainTracker;
  private readonly logs: LogStream;
  private readonly chainLogs: ChainLogStream;
  private readonly transfers: TransferStream;
  /** Null if the node has no WebSocket. */
  private readonly pending: PendingTransactionStream | null;
  private readonly handlers: Record<'eth' | 'signals', ReadonlyMap<string, TopicHandler>>;

  constructor(options: HubOptions) {
    const { reads, node, chain, nativeSymbol, labels, metadataWaitMs, metrics, failures, log } = options;
    this.options = options;
    this.counts = new NotificationCounts(metrics);
    this.chain = chain;
    chain.indexed = reads.lastBlock();
    const { onNews } = options;
    chain.addListener({ onBlockAdded: onNews, onBlocksRemoved: onNews, onDeepReorg: onNews });
    this.logs = new LogStream(chain, node.client, log);
    this.chainLogs = new ChainLogStream(chain, node, log);
    this.transfers = new TransferStream({
      reads,
      node: node.client,
      nativeSymbol,
      labels,
      metadataWaitMs,
      metrics,
      failures,
      log,
    });
    const { subscriptions } = node;
    this.pending = subscriptions && new PendingTransactionStream(subscriptions, log);
    this.handlers = { eth: this.ethHandlers(), signals: new Map([[SIGNALS_TOPIC, this.subscribeSignals]]) };
  }

  /** Opens the session of a new connection. */
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
   * Listens to the hashes of pending transactions, even if `pending` does not offer them to clients. Resolves with a
   * function that stops listening. Rejects with UpstreamError, `rpc` if the node has no such subscription.
   */
  async listenToPending(listener: PendingListener): Promise<() => void> {
    if (this.pending === null) throw new UpstreamError('rpc', 'the node has no WebSocket (node_ws)');
    return this.pending.listen(listener);
  }

  /**
   * Call with the blocks that the indexer is about to commit, after the snapshot is released. Their watermark pushes
   * them.
   */
  onCommitting(blocks: CommittingBlocks): void {
    this.transfers.onCommitting(blocks);
  }

  /** Call with every watermark of the indexer, after the snapshot is released. */
  onWatermark(mark: Watermark): void {
    this.options.onNews();
    if (mark.kind === 'rolled-back') this.chain.noteRollback(mark.to);
    this.chain.indexed = mark.hash === null ? null : { number: mark.to, hash: mark.hash };
    this.transfers.onWatermark(mark);
  }

  private ethHandlers(): ReadonlyMap<string, TopicHandler> {
    const heads = new HeadStream(this.chain);
    return new Map<string, TopicHandler>([
      ['newHeads', (_params, subscription) => heads.subscribe(subscription)],
      [
        'logs',
        (params, subscription) => this.logs.subscribe(parseLogFilter(onlyFilter(params)), subscription),
      ],
      ['chainLogs', this.subscribeChainLogs],
      ['newPendingTransactions', this.pendingHandler()],
      ['monadNewHeads', this.nodeHandler('monadNewHeads')],
      [
        'monadLogs',
        (params, subscription) =>
          this.chainLogs.subscribeVerbatim(parseLogFilter(onlyFilter(params)), subscription),
      ],
      ['syncing', this.nodeHandler('syncing')],
      ['wallet_transfers', this.subscribeWalletTransfers],
    ]);
  }

  private readonly subscribeChainLogs: TopicHandler = async (params, subscription) => {
    const { filter, everyState } = parseChainLogFilter(onlyFilter(params));
    const unsubscribe = await this.chainLogs.subscribe(filter, everyState, subscription);
    return unsubscribe ?? this.logs.subscribe(filter, subscription);
  };

  /** Passes on a subscription of the node. */
  private nodeHandler(topic: string): TopicHandler {
    const { node, log } = this.options;
    if (node.subscriptions === null) {
      return () => {
        throw notOffered(topic);
      };
    }
    const stream = new NodeTopicStream(node.subscriptions, [topic], topic, log);
    return (_params, subscription) => stream.subscribe(subscription);
  }

  private pendingHandler(): TopicHandler {
    if (!this.options.pending) {
      return () => {
        throw invalidParams('newPendingTransactions is disabled on this server (stream.pending)');
      };
    }
    const { pending } = this;
    return ([full], subscription) => {
      if (pending === null) throw notOffered('newPendingTransactions');
      return pending.subscribe(full, subscription);
    };
  }

  private readonly subscribeWalletTransfers: TopicHandler = (params, subscription) => {
    return this.transfers.subscribe(
      new WalletSubscription(subscription, parseWalletFilter(onlyFilter(params))),
    );
  };

  private readonly subscribeSignals: TopicHandler = (params, subscription) => {
    const filter = parseSignalFilter(params, this.options.lists);
    return this.transfers.subscribe(new SignalSubscription(subscription, filter));
  };

  close(): void {
    this.transfers.close();
    this.logs.close();
    this.chainLogs.close();
  }
}
