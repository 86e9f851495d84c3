/** The writer thread as the daemon sees it: passes its reports to the readers, the metrics and listeners. */
import type { Config } from '../config.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import { lagBlocks, lagSeconds } from '../lib/lag.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { StreamHub } from '../stream/hub.ts';
import { type IndexStatus, TRANSFER_KIND_NAMES } from '../types.ts';
import { initialStatus } from '../writer/progress.ts';
import type { MetricsDelta, WriterOptions } from '../writer/protocol.ts';
import { WriterClient } from '../writer/writer-client.ts';
import type { DataStores } from './data-stores.ts';

export interface IndexingDeps {
  stores: Pick<DataStores, 'indexPath' | 'snapshot'>;
  hub: StreamHub;
  metrics: Metrics;
  log: Logger;
}

export interface IndexerHandle {
  /** The status as last reported. */
  status(): IndexStatus;
  onStatus(listener: (status: IndexStatus) => void): void;
  /** Resolves when the thread is stopped, rejects with FatalError when it cannot go on. */
  ended: Promise<void>;
}

/** Starts the thread; indexing begins as soon as the node answers. */
export function startIndexing(config: Config, deps: IndexingDeps, closers: CleanupStack): IndexerHandle {
  const { stores, hub, metrics, log } = deps;
  let status = initialStatus();
  const listeners: ((status: IndexStatus) => void)[] = [];
  const writer = new WriterClient(writerOptions(config, stores.indexPath), {
    onCommitting(blocks) {
      stores.snapshot.release();
      hub.onCommitting(blocks);
    },
    onWatermark(watermark) {
      stores.snapshot.release();
      hub.onWatermark(watermark);
    },
    onStatus(current, delta) {
      status = current;
      recordMetrics(metrics, current, delta);
      for (const listener of listeners) listener(current);
    },
    onLog: (level, fields, msg) => log[level](fields, msg),
  });
  closers.adopt(writer, (writer) => writer.stop());
  return {
    status: () => status,
    onStatus: (listener) => listeners.push(listener),
    ended: writer.ended,
  };
}

function writerOptions(config: Config, indexPath: string): WriterOptions {
  const { node, index } = config;
  return {
    indexPath,
    node: {
      http: config.node_http,
      ws: config.node_ws,
      timeoutMs: node.timeout_ms,
      maxSockets: node.max_sockets,
      maxBatch: node.batch,
    },
    index: {
      startBlock: index.start_block,
      head: index.head,
      traces: index.traces,
      pollMs: index.poll_ms,
      readyLag: index.ready_lag,
      batchTransfers: index.batch_transfers,
      loaders: index.loaders,
      cacheMb: index.cache_mb,
    },
    wrappedNative: config.chain.wrapped_native,
  };
}

function recordMetrics(metrics: Metrics, status: IndexStatus, delta: MetricsDelta): void {
  const { head, nodeHead } = status;
  metrics.indexHead.setOrClear(head?.number ?? null);
  metrics.nodeHead.setOrClear(nodeHead);
  metrics.lagBlocks.setOrClear(lagBlocks(status));
  metrics.lagSeconds.setOrClear(lagSeconds(status, Date.now()));
  metrics.indexedBlocks.inc(delta.blocks);
  for (const [kind, name] of TRANSFER_KIND_NAMES.entries())
    metrics.transfers.inc({ kind: name }, delta.transfers[kind] ?? 0);
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
