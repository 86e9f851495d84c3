/** The composition root: opens everything in order, wires it, and closes it in reverse. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openAccess } from './access/access.ts';
import { prepareApi } from './api/api.ts';
import { ReadPool } from './api/read-pool.ts';
import { startReader } from './api/threads.ts';
import { versionText } from './cli/version.ts';
import { printConfigJson } from './config/print.ts';
import { parseListen } from './config/values.ts';
import type { Config, Parsed, Sources } from './config.ts';
import { FatalError } from './errors.ts';
import type { Logger } from './log.ts';
import { followFiles } from './metrics/files.ts';
import { listenForMetrics } from './metrics/listener.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { Snapshot } from './query/snapshot.ts';
import { RpcHandler } from './rpc/handler.ts';
import { methodPolicy } from './rpc/policy.ts';
import type { AdminOptions } from './server/admin.ts';
import { startServer } from './server/app.ts';
import { WsConnections } from './server/ws-connections.ts';
import { openIndexForReading, prepareIndexFile } from './store/index-file.ts';
import type { MigrationProgress } from './store/migrations.ts';
import { StreamHub } from './stream/hub.ts';
import { type IndexStatus, KIND_NAMES } from './types.ts';
import { RpcClient } from './upstream/client.ts';
import { WireTransport } from './upstream/wire/transport.ts';
import { WriterClient } from './writer/client.ts';
import { idleStatus } from './writer/progress.ts';
import type { WriterOptions, WriterWork } from './writer/protocol.ts';
import { Surveyor } from './writer/surveyor.ts';
import { startThread } from './writer/worker.ts';

export interface Daemon {
  url: string;
  status(): IndexStatus;
  /** Calls the listener with each report of the indexer, a few a second. */
  onStatus(listener: (status: IndexStatus) => void): void;
  /**
   * Takes over the settings that may change while it runs: tiers, origins, a renewed certificate. Throws ConfigError,
   * with nothing changed, for an unusable certificate.
   */
  reload(parsed: Parsed): Promise<void>;
  /** Resolves after `close`; rejects with FatalError when the daemon cannot go on (and should then be closed). */
  closed: Promise<void>;
  /** Stops accepting, finishes what is in flight, commits, closes. Can be called more than once. */
  close(): Promise<void>;
}

export interface DaemonDeps {
  log: Logger;
  /** A local development chain: `anvil_*` may be allowed through `/rpc`. */
  development?: boolean;
  /** Where each setting comes from, for the panel; all from the defaults unless given. */
  sources?: Sources;
}

/** Page cache of the serving connection, MiB. */
const READER_CACHE_MB = 32;

/** Calls of `/rpc` that may wait for a free socket to the node. */
const RPC_MAX_WAITING = 4_096;
/** Bytes of those calls. */
const RPC_MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Starts serving at once; indexing begins as soon as the node answers. Throws ConfigError or FatalError. */
export async function startDaemon(config: Config, deps: DaemonDeps): Promise<Daemon> {
  const { log, development = false, sources = {} } = deps;
  let inForce: Parsed = { config, sources };
  const closers: (() => unknown)[] = [];
  const close = closeOnce(closers);
  try {
    const indexPath = join(makeDataDir(config.data_dir), 'index.db');
    await prepareIndexFile(indexPath, migrationLog(log)); // before anything else depends on the file
    const db = openIndexForReading(indexPath, { cacheMb: READER_CACHE_MB });
    closers.push(() => db.close());
    const snapshot = new Snapshot(db);
    closers.push(() => snapshot.release());
    const access = openAccess(join(config.data_dir, 'keys.db'), config.tiers, (error) => {
      if (error === null) log.info({}, 'usage is written again');
      else log.error({ reason: error.message }, 'usage cannot be written and is kept in memory');
    });
    closers.push(() => access.close());
    const metrics = createMetrics();
    closers.push(() => metrics.close());
    metrics.buildInfo.set({ version: versionText }, 1);
    followFiles(metrics, indexPath);
    const metricsAddress = parseListen(config.metrics.listen);
    if (metricsAddress !== undefined) {
      const listener = await listenForMetrics(metricsAddress, metrics, log);
      closers.push(() => listener.close());
      log.info({ url: listener.url }, 'metrics are served');
    }
    const transport = rpcTransport(config);
    closers.push(() => transport.close());

    let status = idleStatus();
    const listeners: ((status: IndexStatus) => void)[] = [];
    const nativeSymbol = config.chain.symbol;
    const readers = new ReadPool(() => startReader({ indexPath, nativeSymbol }));
    closers.push(() => readers.close());
    const api = prepareApi({ db, nativeSymbol }, snapshot, readers);
    const rpc = new RpcHandler({
      transport,
      allowed: methodPolicy({ allow: config.rpc.allow, development }),
      settings: config.rpc,
      log,
      metrics,
    });
    const hub = new StreamHub({ ...streamOptions(config), db, snapshot, metrics, log });
    closers.push(() => hub.close());
    const streams = {
      hub,
      settings: config.stream,
      connections: new WsConnections(access.keys, config.stream),
    };
    const writer = new WriterClient(writerOptions(config, indexPath), {
      onWatermark(watermark) {
        snapshot.release();
        hub.onWatermark(watermark);
      },
      onStatus(current, work) {
        status = current;
        countWork(metrics, current, work);
        for (const listener of listeners) listener(current);
      },
      onLog: (level, facts, msg) => log[level](facts, msg),
    });
    closers.push(() => writer.stop());
    const surveyor = new Surveyor(() => startThread('survey', indexPath));
    closers.push(() => surveyor.close());
    const server = await startServer({
      settings: config.server,
      api,
      rpc,
      access,
      indexState: () => status,
      readyLag: config.index.ready_lag,
      nativeSymbol,
      admin: adminOptions(
        () => inForce,
        surveyor,
        () => streams.connections.list(),
      ),
      streams,
      metrics,
      log,
    });
    closers.push(() => server.close());
    return {
      url: server.url,
      status: () => status,
      onStatus: (listener) => listeners.push(listener),
      async reload(parsed) {
        await server.reload(parsed.config.server);
        access.limiter.tiers = parsed.config.tiers;
        inForce = parsed;
      },
      closed: writer.ended,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Between two log lines about the progress of a migration, milliseconds. */
const MIGRATION_LOG_MS = 5_000;

/** Logs the beginning and the end of each migration, and how far it is while it lasts. */
function migrationLog(log: Logger): (progress: MigrationProgress) => void {
  let current = 0;
  let loggedAt = 0;
  return ({ version, title, done }) => {
    if (version === current && done < 1 && Date.now() - loggedAt < MIGRATION_LOG_MS) return;
    current = version;
    loggedAt = Date.now();
    log.info({ version, title, percent: Math.floor(done * 100) }, 'bringing the index up to date');
  };
}

/** Runs the closers once, the last pushed first; a failing one does not keep the others from running. */
function closeOnce(closers: readonly (() => unknown)[]): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (const closer of [...closers].reverse()) {
      await Promise.resolve()
        .then(closer)
        .catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  };
  return () => {
    closing ??= run();
    return closing;
  };
}

function makeDataDir(path: string): string {
  try {
    mkdirSync(path, { recursive: true });
    return path;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FatalError(`cannot make the folder of data_dir: ${why}`, { cause: error });
  }
}

/** The operator's panel, which is off without a token. */
function adminOptions(
  inForce: () => Parsed,
  surveyor: Surveyor,
  sockets: AdminOptions['sockets'],
): AdminOptions | undefined {
  const token = inForce().config.admin_token;
  if (token === '') return undefined;
  return {
    token,
    survey: () => surveyor.look(),
    sockets,
    settings: () => printConfigJson(inForce()),
  };
}

function rpcTransport(config: Config): WireTransport {
  return new WireTransport({
    url: config.node_http,
    timeoutMs: config.rpc.timeout_ms,
    maxSockets: config.rpc.max_sockets,
    maxWaiting: RPC_MAX_WAITING,
    maxWaitingBytes: RPC_MAX_WAITING_BYTES,
  });
}

/** Calls to the node on behalf of all streams: heads and logs, a few per block. */
const STREAM_MAX_SOCKETS = 8;

function streamOptions({ node, node_http, node_ws, index, chain, stream }: Config) {
  return {
    node: {
      wsUrl: node_ws,
      client: new RpcClient({
        url: node_http,
        timeoutMs: node.timeout_ms,
        maxSockets: STREAM_MAX_SOCKETS,
        maxBatch: node.batch,
      }),
      pollMs: index.poll_ms,
    },
    nativeSymbol: chain.symbol,
    pending: stream.pending,
    maxSubscriptions: stream.max_subscriptions,
    maxBacklogBytes: stream.max_backlog_bytes,
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
  const { head, headTimestamp, nodeHead } = status;
  if (head !== null) metrics.indexHead.set(head.number);
  if (nodeHead !== null) metrics.nodeHead.set(nodeHead);
  if (head !== null && nodeHead !== null) metrics.lagBlocks.set(Math.max(0, nodeHead - head.number));
  if (headTimestamp !== null) metrics.lagSeconds.set(Math.max(0, Date.now() / 1000 - headTimestamp));
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
