/** The composition root: opens everything in order, wires it, and closes it in reverse order. */

import { isDeepStrictEqual } from 'node:util';
import { loadAbiFolder } from './abi/abi-files.ts';
import type { AddedSignature } from './abi/signatures.ts';
import type { Examine } from './api/api.ts';
import { NamedQueries } from './api/queries/named-queries.ts';
import { configuredTradeLists } from './config/configured-lists.ts';
import type { Config, ParsedConfig, Sources } from './config/parse-config.ts';
import { printConfigJson } from './config/print.ts';
import { startCluster } from './daemon/cluster.ts';
import { openDataStores, openToVisitors, warnAboutKeys } from './daemon/data-stores.ts';
import { reportCaughtErrors } from './daemon/failures.ts';
import { openHooks } from './daemon/hooks.ts';
import { startIndexing } from './daemon/indexing.ts';
import { openMetrics } from './daemon/metrics.ts';
import { checkedQueries, runNamedQueries, warnOfScans } from './daemon/named-queries.ts';
import { openNodes } from './daemon/nodes.ts';
import { maxConnections, withMaxConnections } from './daemon/open-files.ts';
import { openServices } from './daemon/services.ts';
import { startSink } from './daemon/sink.ts';
import { adminSql, trackQueries } from './daemon/sql.ts';
import { IndexStatsRunner, measureInThread } from './indexer/stats-runner.ts';
import { CleanupStack } from './lib/cleanup-stack.ts';
import { fileBytes, freeDiskBytes } from './lib/files.ts';
import type { Logger } from './log/logger.ts';
import { ActivityLog } from './metrics/activity.ts';
import type { ExampleAddress } from './model/address.ts';
import type { IndexStatus } from './model/index-status.ts';
import { ReadFailures } from './query/read-failures.ts';
import type { AdminOptions } from './server/admin/routes.ts';
import { type Server, startServer } from './server/server.ts';
import { QueryPool } from './sql/process/query-pool.ts';
import { queryReads } from './sql/process/reading-queries.ts';
import { prepareLastBlock } from './store/chain.ts';

/** Time to close everything, milliseconds, of the 10 s that a stop may take. */
const CLOSE_MS = 9_000;

export interface Daemon {
  url: string;
  status(): IndexStatus;
  /** Calls the listener with each report of the indexer, a few per second. */
  onStatus(listener: (status: IndexStatus) => void): void;
  /**
   * Applies the settings that may change at run time: tiers, named queries, origins, a renewed certificate. Throws
   * ConfigError, with nothing changed, for an unusable certificate or query.
   */
  reload(parsed: ParsedConfig): Promise<void>;
  /** Resolves after `close`. Rejects with FatalError when the daemon cannot continue; then call `close`. */
  closed: Promise<void>;
  /** Reports not ready on `/readyz`, and resolves after `server.drain_seconds` of normal service. */
  drain(): Promise<void>;
  /** Stops accepting, finishes open requests, commits, closes. Can be called more than once. */
  close(): Promise<void>;
}

interface DaemonDeps {
  log: Logger;
  /** A local development chain: `anvil_*` may be allowed through `/rpc`. */
  development?: boolean;
  /** Addresses that the explorer's home page suggests. */
  examples?: readonly ExampleAddress[];
  /** Functions, events and errors besides those of standards and of `explorer.abi_dir`. */
  signatures?: readonly AddedSignature[];
  /** Where each setting comes from, for the panel; all are defaults unless given. */
  sources?: Sources;
  /** Aborts the migration of an old index, which may take hours. The next start resumes it. */
  signal?: AbortSignal;
}

/**
 * Starts serving at once; indexing begins as soon as the node answers. Throws ConfigError, FatalError or the signal's
 * reason.
 */
export async function startDaemon(config: Config, deps: DaemonDeps): Promise<Daemon> {
  const closers = new CleanupStack();
  try {
    return await openDaemon(config, deps, closers);
  } catch (error) {
    await closers.close(CLOSE_MS);
    throw error;
  }
}

async function openDaemon(config: Config, deps: DaemonDeps, closers: CleanupStack): Promise<Daemon> {
  const { log, development = false, examples = [], sources = {}, signal } = deps;
  let effective: ParsedConfig = { config, sources };
  const max_connections = maxConnections(config, log); // throws before anything is opened

  const configured = checkedQueries(config);
  const added = [...(await loadAbiFolder(config.explorer.abi_dir)), ...(deps.signatures ?? [])];
  const stores = await openDataStores(config, log, closers, signal);
  let server: Server | null = null;
  const notReadyReason = () => (server === null ? 'the server is starting' : server.notReadyReason());
  const metrics = await openMetrics(config, stores.indexPath, notReadyReason, log, closers);
  reportCaughtErrors(metrics, log, closers);
  const cluster = await startCluster(config, { stores, metrics, log }, closers, signal);
  warnAboutKeys(stores.access, config.data_dir, log);
  openToVisitors(stores.access, config.server, log);
  const failures = new ReadFailures({ log, metrics });
  const { node, watch } = openNodes(config, { db: stores.db, metrics, log }, closers);
  const hookDeps = { stores, node, metrics, log };
  const { store: hookStore, lists, start: startHooks } = openHooks(config, hookDeps, closers);
  const examine: Examine = (wallets) => indexing.examine(wallets);
  const pool = closers.adopt(
    new QueryPool(stores.indexPath, configuredTradeLists(config)),
    (pool) => pool.close(),
    'at once',
  );
  trackQueries(metrics, pool);
  const maxReorg = config.index.max_reorg;
  const queries = new NamedQueries(runNamedQueries(pool, log), { db: stores.db, maxReorg });
  queries.offer(configured);
  const serviceDeps = {
    stores,
    queries,
    node,
    watch,
    metrics,
    failures,
    log,
    development,
    examine,
    added,
    lists: lists.get,
  };
  const services = openServices(config, serviceDeps, closers);
  const { hub, connections } = services.streams;
  const hooks = startHooks(prepareLastBlock(stores.db));
  const sink = startSink(config, { indexPath: stores.indexPath, metrics, log }, closers);
  const indexingDeps = { stores, node, watch, hub, hooks, sink, metrics, failures, log };
  const indexing = startIndexing(config, indexingDeps, closers);
  indexing.onStatus(services.noteStatus);
  const statsRunner = closers.adopt(
    new IndexStatsRunner(
      (signal) => measureInThread(stores.indexPath, log, signal),
      (error) => failures.record(error),
    ),
    (runner) => runner.close(),
    'at once',
  );
  const activity = closers.adopt(new ActivityLog(metrics, indexing.status), (log) => log.close());
  const admin: AdminOptions = {
    token: config.admin_token,
    indexStats: () => statsRunner.state(),
    diskSizes: () => ({
      fileBytes: fileBytes(stores.indexPath),
      walBytes: fileBytes(`${stores.indexPath}-wal`),
      freeBytes: freeDiskBytes(stores.indexPath),
      queries: queryReads(stores.indexPath),
    }),
    sockets: () => connections.list(),
    closeSocket: (id) => connections.closeOne(id),
    hooks: { ...hooks, lists: () => hookStore.lists.list() },
    labels: stores.labels,
    activity: () => activity.read(),
    sql: adminSql(pool),
    settings: () => printConfigJson(withMaxConnections(effective, max_connections)),
  };
  server = await startServer({
    ...services,
    queries,
    settings: { ...config.server, max_connections },
    access: stores.access,
    indexState: indexing.status,
    sinkState: sink && (() => sink.status),
    clusterState: cluster && (() => cluster.status),
    dataDir: config.data_dir,
    readyLag: config.index.ready_lag,
    staleSeconds: config.index.stale_seconds,
    nativeSymbol: config.chain.symbol,
    examples,
    hookSummary: hooks.summary,
    admin: admin.token === '' ? undefined : admin, // the panel is off without a token
    metrics,
    log,
  });
  closers.adopt(server, (server) => server.close());
  void warnOfScans(configured, pool, log);

  const { url, reload, drain } = server;
  return {
    url,
    status: indexing.status,
    onStatus: indexing.onStatus,
    async reload(parsed) {
      const configured = checkedQueries(parsed.config);
      await reload(parsed.config.server);
      if (!isDeepStrictEqual(parsed.config.queries, effective.config.queries)) {
        queries.offer(configured);
        void warnOfScans(configured, pool, log);
      }
      stores.access.limiter.tiers = parsed.config.tiers;
      warnAboutKeys(stores.access, config.data_dir, log);
      effective = parsed;
    },
    closed: cluster ? Promise.race([indexing.ended, cluster.failed]) : indexing.ended,
    drain,
    close: () => closers.close(CLOSE_MS),
  };
}
