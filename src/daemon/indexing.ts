/** The writer thread as the daemon sees it: passes its reports to the readers, the metrics and listeners. */
import type { Config } from '../config.ts';
import type { Closers } from '../lib/closers.ts';
import { lagBlocks, lagSeconds } from '../lib/lag.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { StreamHub } from '../stream/hub.ts';
import { type IndexStatus, KIND_NAMES } from '../types.ts';
import { WriterClient } from '../writer/client.ts';
import { idleStatus } from '../writer/progress.ts';
import type { WriterOptions, WriterWork } from '../writer/protocol.ts';
import type { Data } from './data.ts';

export interface IndexingDeps {
  data: Pick<Data, 'indexPath' | 'snapshot'>;
  hub: StreamHub;
  metrics: Metrics;
  log: Logger;
}

export interface Indexing {
  /** The status as last reported. */
  status(): IndexStatus;
  onStatus(listener: (status: IndexStatus) => void): void;
  /** Resolves when the thread is stopped, rejects with FatalError when it cannot go on. */
  ended: Promise<void>;
}

/** Starts the thread; indexing begins as soon as the node answers. */
export function startIndexing(config: Config, deps: IndexingDeps, closers: Closers): Indexing {
  const { data, hub, metrics, log } = deps;
  let status = idleStatus();
  const listeners: ((status: IndexStatus) => void)[] = [];
  const writer = new WriterClient(writerOptions(config, data.indexPath), {
    onWatermark(watermark) {
      data.snapshot.release();
      hub.onWatermark(watermark);
    },
    onStatus(current, work) {
      status = current;
      countWork(metrics, current, work);
      for (const listener of listeners) listener(current);
    },
    onLog: (level, facts, msg) => log[level](facts, msg),
  });
  closers.keep(writer, (writer) => writer.stop());
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
      batch: node.batch,
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

function countWork(metrics: Metrics, status: IndexStatus, work: WriterWork): void {
  const { head, nodeHead } = status;
  metrics.indexHead.setKnown(head?.number ?? null);
  metrics.nodeHead.setKnown(nodeHead);
  metrics.lagBlocks.setKnown(lagBlocks(status));
  metrics.lagSeconds.setKnown(lagSeconds(status, Date.now()));
  metrics.indexedBlocks.inc(work.blocks);
  for (const [kind, name] of KIND_NAMES.entries())
    metrics.transfers.inc({ kind: name }, work.transfers[kind] ?? 0);
  for (const [reason, count] of Object.entries(work.skippedLogs)) metrics.skippedLogs.inc({ reason }, count);
  for (const seconds of work.commitSeconds) metrics.commitSeconds.observe(seconds);
  metrics.reorgs.inc(work.rollbacks.length);
  metrics.reorgDepth.set(status.deepestReorg);
  for (const { method, seconds, failure } of work.calls) {
    metrics.upstreamRequests.inc({ method });
    if (failure === null) metrics.upstreamSeconds.observe({ method }, seconds);
    else metrics.upstreamErrors.inc({ method, reason: failure });
  }
}
