/** The composition root: opens everything in order, wires it, and closes it in reverse. */
import { printConfigJson } from './config/print.ts';
import type { Config, Parsed, Sources } from './config.ts';
import { openData } from './daemon/data.ts';
import { startIndexing } from './daemon/indexing.ts';
import { warnOfKeys } from './daemon/keys.ts';
import { openMetrics } from './daemon/observe.ts';
import { openServices } from './daemon/services.ts';
import { Closers } from './lib/closers.ts';
import type { Logger } from './log.ts';
import type { AdminOptions } from './server/admin.ts';
import { startServer } from './server/app.ts';
import type { IndexStatus } from './types.ts';
import { Surveyor } from './writer/surveyor.ts';
import { startThread } from './writer/threads.ts';

export interface Daemon {
  url: string;
  status(): IndexStatus;
  /** Calls the listener with each report of the indexer, a few a second. */
  onStatus(listener: (status: IndexStatus) => void): void;
  /**
   * Applies the settings that may change at run time: tiers, origins, a renewed certificate. Throws ConfigError, with
   * nothing changed, for an unusable certificate.
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
  /** Where each setting comes from, for the panel; all are defaults unless given. */
  sources?: Sources;
  /** Aborts the migration of an old index, which may take hours; the next start resumes it. */
  signal?: AbortSignal;
}

/** Starts serving at once; indexing begins as soon as the node answers. Throws ConfigError, FatalError or the signal's reason. */
export async function startDaemon(config: Config, deps: DaemonDeps): Promise<Daemon> {
  const closers = new Closers();
  try {
    return await open(config, deps, closers);
  } catch (error) {
    await closers.close();
    throw error;
  }
}

async function open(config: Config, deps: DaemonDeps, closers: Closers): Promise<Daemon> {
  const { log, development = false, sources = {}, signal } = deps;
  let inForce: Parsed = { config, sources };

  const data = await openData(config, log, closers, signal);
  warnOfKeys(data.access, config.data_dir, log);
  const metrics = await openMetrics(config, data.indexPath, log, closers);
  const services = openServices(config, { data, metrics, log, development }, closers);
  const { hub, connections } = services.streams;
  const indexing = startIndexing(config, { data, hub, metrics, log }, closers);
  const surveyor = closers.keep(new Surveyor(() => startThread('survey', data.indexPath)), (surveyor) =>
    surveyor.close(),
  );
  const admin: AdminOptions = {
    token: config.admin_token,
    survey: () => surveyor.look(),
    sockets: () => connections.list(),
    settings: () => printConfigJson(inForce),
  };
  const server = await startServer({
    ...services,
    settings: config.server,
    access: data.access,
    indexState: indexing.status,
    readyLag: config.index.ready_lag,
    nativeSymbol: config.chain.symbol,
    admin: admin.token === '' ? undefined : admin, // the panel is off without a token
    metrics,
    log,
  });
  closers.keep(server, (server) => server.close());

  return {
    url: server.url,
    status: indexing.status,
    onStatus: indexing.onStatus,
    async reload(parsed) {
      await server.reload(parsed.config.server);
      data.access.limiter.tiers = parsed.config.tiers;
      warnOfKeys(data.access, config.data_dir, log);
      inForce = parsed;
    },
    closed: indexing.ended,
    close: () => closers.close(),
  };
}
