/** Keys shared by several daemons through PostgreSQL, if configured. */
import { hostname } from 'node:os';
import { ClusterClient } from '../cluster/cluster-client.ts';
import { SharedKeys } from '../cluster/shared-keys.ts';
import type { Config } from '../config/parse-config.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import { hostPort } from '../lib/text.ts';
import { versionText } from '../lib/version.ts';
import type { Logger } from '../log/logger.ts';
import { type Metrics, trackTotal } from '../metrics/metrics.ts';
import type { DataStores } from './data-stores.ts';

interface ClusterDeps {
  stores: DataStores;
  metrics: Metrics;
  log: Logger;
}

/**
 * Joins the daemons of `access.postgres`; undefined when that is empty. Throws FatalError when this daemon would assign
 * different ids, or when PostgreSQL is unavailable and no keys are cached.
 */
export async function startCluster(
  config: Config,
  { stores, metrics, log }: ClusterDeps,
  closers: CleanupStack,
  signal?: AbortSignal,
): Promise<ClusterClient | undefined> {
  if (config.access.postgres === '') return undefined;
  const { access, keysPath, indexPath } = stores;
  const errors = trackTotal(metrics.clusterErrors);
  const client = new ClusterClient(
    {
      url: config.access.postgres,
      keysPath,
      indexPath,
      name: hostPort(hostname(), config.server.port),
      program: versionText,
      tiers: JSON.stringify(config.tiers),
    },
    access,
    {
      onStatus(status) {
        metrics.clusterJoined.setOrClear(status.state === 'joined' ? 1 : 0);
        metrics.clusterDaemons.setOrClear(status.daemons);
        metrics.clusterUnsent.setOrClear(status.unsentRequests);
        metrics.clusterLastSync.setOrClear(status.lastSyncAt === null ? null : status.lastSyncAt / 1000);
        errors(status.errors);
      },
      log,
    },
  );
  closers.adopt(client, (client, leftMs) => client.stop(leftMs));
  access.changes = new SharedKeys((change) => client.change(change));
  await client.ready(signal);
  return client;
}
