/**
 * How many connections the limit of open files allows. Beyond that limit neither a client gets through nor a thread, and a
 * thread that cannot start ends the daemon: what it needs itself is set aside, and clients get the rest.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Config, ParsedConfig } from '../config/parse-config.ts';
import { FatalError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';
import { REST_MAX_SOCKETS, STREAM_MAX_SOCKETS } from './services.ts';

/** For the files and threads of the daemon and a few connections of monitoring: with all threads there are some 60. */
const OWN_FILES = 96;
/** For each loader thread, beside its connections to the node. */
const LOADER_FILES = 8;

/**
 * `server.max_connections`, or fewer, with a warning, where the limit of open files leaves room for fewer only. Throws
 * FatalError when it leaves none.
 */
export function maxConnections(config: Config, log: Logger, openFiles = openFilesLimit()): number {
  const own = ownFiles(config);
  const wanted = config.server.max_connections;
  const allowed = openFiles - own;
  if (allowed >= wanted) return wanted;
  const advice = 'raise it (ulimit -n, LimitNOFILE= of systemd)';
  if (allowed < 1) {
    throw new FatalError(
      `the limit of ${openFiles} open files is too low, the daemon alone may need ${own}: ${advice}, or lower rpc.max_sockets, node.max_sockets or index.loaders`,
    );
  }
  log.warn(
    { openFiles, ownFiles: own, connections: allowed, wanted, advice },
    'the limit of open files allows fewer connections than server.max_connections',
  );
  return allowed;
}

/** The settings with the number of connections in force; where it is not the one that was set, the reason is its source. */
export function withMaxConnections({ config, sources }: ParsedConfig, connections: number): ParsedConfig {
  const { max_connections: wanted } = config.server;
  if (connections === wanted) return { config, sources };
  const path = 'server.max_connections';
  return {
    config: { ...config, server: { ...config.server, max_connections: connections } },
    sources: {
      ...sources,
      [path]: `limit of open files (ulimit -n), instead of ${wanted} (${sources[path] ?? 'default'})`,
    },
  };
}

function ownFiles({ node, index, rpc }: Config): number {
  const indexing = node.max_sockets + index.loaders * (node.max_sockets + LOADER_FILES);
  return OWN_FILES + indexing + STREAM_MAX_SOCKETS + REST_MAX_SOCKETS + rpc.max_sockets;
}

/** That of this process; Node itself raises it at start as far as the system lets it. Where nobody tells it there is none. */
function openFilesLimit(): number {
  const file = '/proc/self/limits';
  const limits = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}
