/**
 * Derives the number of connections from the limit of open files. At that limit neither a connection nor a thread can
 * be opened, and a thread that cannot start ends the daemon. So this reserves what the daemon needs and leaves the rest
 * to clients.
 */

import { existsSync, readFileSync } from 'node:fs';
import type { Config, ParsedConfig } from '../config/parse-config.ts';
import { FatalError } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import type { Logger } from '../log/logger.ts';
import { REST_MAX_SOCKETS, STREAM_MAX_SOCKETS } from './services.ts';

/** For the daemon's files and threads, about 60, and a few monitoring connections. */
const OWN_FILES = 96;
/** Per backfill worker, besides its connections to the node. */
const WORKER_FILES = 8;

/**
 * `server.max_connections`, or fewer if the limit of open files requires it, which it logs. Throws FatalError when none
 * are left.
 */
export function maxConnections(config: Config, log: Logger, openFiles = openFilesLimit()): number {
  const own = ownFiles(config);
  const wanted = config.server.max_connections;
  const allowed = openFiles - own;
  if (allowed >= wanted) return wanted;
  const advice = 'raise it (ulimit -n, LimitNOFILE= of systemd)';
  if (allowed < 1) {
    throw new FatalError(
      `the limit of ${openFiles} open files is too low: the daemon alone may need ${own}; ${advice}, or ` +
        `lower ${settingName('rpc.max_sockets')}, ${settingName('node.max_sockets')} or ` +
        `${settingName('index.loaders')}`,
    );
  }
  log.warn(
    {
      openFiles,
      ownFiles: own,
      connections: allowed,
      wanted,
      setting: settingName('server.max_connections'),
      advice,
    },
    'the limit of open files allows fewer connections than server.max_connections',
  );
  return allowed;
}

/**
 * The settings with the effective number of connections. If it differs from the configured number, its source says why.
 */
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
  const indexing = node.max_sockets + index.loaders * (node.max_sockets + WORKER_FILES);
  return OWN_FILES + indexing + STREAM_MAX_SOCKETS + REST_MAX_SOCKETS + rpc.max_sockets;
}

/**
 * This process's limit, which Node raises at startup as far as permitted; infinite if the system does not report one.
 */
function openFilesLimit(): number {
  const file = '/proc/self/limits';
  const limits = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}
