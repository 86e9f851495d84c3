/** The metrics of this process, and their own listener if one is configured. */
import { parseListen } from '../config/values.ts';
import type { Config } from '../config.ts';
import type { Closers } from '../lib/closers.ts';
import type { Logger } from '../log.ts';
import { followFiles } from '../metrics/files.ts';
import { listenForMetrics } from '../metrics/listener.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { versionText } from '../version.ts';

/** Throws ListenError when it cannot bind the configured address. */
export async function openMetrics(
  config: Config,
  indexPath: string,
  log: Logger,
  closers: Closers,
): Promise<Metrics> {
  const metrics = closers.keep(createMetrics(), (metrics) => metrics.close());
  metrics.buildInfo.set({ version: versionText }, 1);
  followFiles(metrics, indexPath);
  const address = parseListen(config.metrics.listen);
  if (address !== undefined) {
    const listener = closers.keep(await listenForMetrics(address, metrics, log), (one) => one.close());
    log.info({ url: listener.url }, 'metrics are served');
  }
  return metrics;
}
