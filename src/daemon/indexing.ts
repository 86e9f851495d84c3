/** The daemon's handle on the indexer thread: passes its reports to readers, metrics and listeners. */
import { configuredLists, configuredTradeLists } from '../config/configured-lists.ts';
import type { Config } from '../config/parse-config.ts';
import { IndexerClient } from '../indexer/indexer-client.ts';
import { initialStatus } from '../indexer/progress.ts';
import type { IndexerThreadOptions, MetricsDelta } from '../indexer/protocol.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type IndexStatus, lagBlocks } from '../model/index-status.ts';
import { TRANSFER_KIND_NAMES } from '../model/transfer-kind.ts';
import type { NodeWatch } from '../node/choice/node-watch.ts';
import type { SelectedNode } from '../node/choice/selected-node.ts';
import type { ReadFailures } from '../query/read-failures.ts';
import type { SinkClient } from '../sink/sink-client.ts';
import type { StreamHub } from '../streams/hub.ts';
import type { DataStores } from './data-stores.ts';
import type { HooksHandle } from './hooks.ts';

/**
 * Time for the indexer to end, milliseconds. It abandons a commit, and its own threads take at most 5 s.
 */
const INDEXER_STOP_MS = 6_500;

interface IndexingDeps {
  stores: Pick<DataStores, 'indexPath' | 'snapshot'>;
  node: SelectedNode;
  /** Chooses the node; absent for a single one. */
  watch: Pick<NodeWatch, 'noteIndexed' | 'status'> | undefined;
  hub: StreamHub;
  /** Absent without a sink. */
  sink: Pick<SinkClient, 'wake'> | undefined;
  hooks: Pick<HooksHandle, 'changed'>;
  metrics: Metrics;
  failures: Pick<ReadFailures, 'record' | 'current'>;
  log: Logger;
}

interface IndexerHandle {
  /** The last reported status. */
  status(): IndexStatus;
  onStatus(listener: (status: IndexStatus) => void): void;
  /** Asks in the background whether these wallets are contracts. */
  examine(wallets: readonly number[]): void;
  /** Resolves when the thread has stopped, rejects with FatalError when it cannot continue. */
  ended: Promise<void>;
}

/** Starts the thread. Indexing starts as soon as the node answers. */
export function startIndexing(config: Config, deps: IndexingDeps, closers: CleanupStack): IndexerHandle {
  const { stores, watch, hub, hooks, sink, metrics, failures, log } = deps;
  let status = initialStatus();
  const listeners: ((status: IndexStatus) => void)[] = [];
  const writer = new IndexerClient(writerOptions(config, stores.indexPath, deps.node), {
    onCommitting(blocks) {
      stores.snapshot.release();
      hub.onCommitting(blocks);
    },
    onWatermark(watermark) {
      stores.snapshot.release();
      hub.onWatermark(watermark);
      sink?.wake(watermark.kind === 'committed' ? watermark.committedAt : null);
      hooks.changed();
    },
    onStatus(current, delta, at) {
      status = current;
      watch?.noteIndexed(at, current.nodeChain, current.reason);
      recordMetrics(metrics, current, delta);
      for (const listener of listeners) listener(current);
    },
    onUnreadable: (damage) => failures.record(damage),
    log,
  });
  closers.adopt(writer, (writer, leftMs) => writer.stop(Math.min(leftMs, INDEXER_STOP_MS)), 'at once');
  closers.adopt(
    deps.node.onSelect((at) => writer.selectNode(at)),
    (unsubscribe) => unsubscribe(),
  );
  return {
    status: () => ({ ...status, nodes: watch?.status() ?? [], readFailure: failures.current() }),
    onStatus: (listener) => listeners.push(listener),
    examine: (wallets) => writer.examine(wallets),
    ended: writer.ended,
  };
}

function writerOptions(config: Config, indexPath: string, selected: SelectedNode): IndexerThreadOptions {
  const { node, index, chain } = config;
  return {
    indexPath,
    nodes: selected.addresses,
    inUse: selected.at,
    tracesHttp: config.node_traces,
    node: {
      timeoutMs: node.timeout_ms,
      maxSockets: node.max_sockets,
      maxBatch: node.batch,
    },
    index: {
      startBlock: index.start_block,
      head: index.head,
      finality: chain.finality,
      traces: index.traces,
      checkRoots: index.check_roots,
      pollMs: index.poll_ms,
      maxReorg: index.max_reorg,
      gapAfterMs: index.gap_after * 1000,
      readyLag: index.ready_lag,
      batchTransfers: index.batch_transfers,
      backfillMemoryMb: index.backfill_memory_mb,
      backfillWorkers: index.loaders,
      cacheMb: index.cache_mb,
    },
    configured: configuredLists(config),
    configuredTrades: configuredTradeLists(config),
  };
}

function recordMetrics(metrics: Metrics, status: IndexStatus, delta: MetricsDelta): void {
  const { head, nodeHead } = status;
  metrics.indexHead.setOrClear(head?.number ?? null);
  metrics.nodeHead.setOrClear(nodeHead);
  metrics.nodeChain.reset();
  metrics.nodeChain.set({ state: status.nodeChain }, 1);
  metrics.lagBlocks.setOrClear(lagBlocks(status));
  metrics.indexedBlocks.inc(delta.blocks);
  for (const [kind, name] of TRANSFER_KIND_NAMES.entries())
    metrics.transfers.inc({ kind: name }, delta.transfers[kind] ?? 0);
  metrics.renumbered.inc(delta.renumbered);
  for (const [reason, count] of Object.entries(delta.skippedLogs)) metrics.skippedLogs.inc({ reason }, count);
  for (const seconds of delta.commitSeconds) metrics.commitSeconds.observe(seconds);
  metrics.reorgs.inc(delta.rollbacks.length);
  metrics.reorgDepth.set(status.deepestReorg);
  for (const { method, seconds, failure } of delta.calls) {
    metrics.upstreamRequests.inc({ method });
    if (failure === null) metrics.upstreamSeconds.observe({ method }, seconds);
    else metrics.upstreamErrors.inc({ method, reason: failure });
  }
}
