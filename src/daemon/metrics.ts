/** The metrics of this process, and their own listener if one is configured. */

import type { Config } from '../config/parse-config.ts';
import { parseListen } from '../config/values.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import { fileBytes, freeDiskBytes } from '../lib/files.ts';
import { versionText } from '../lib/version.ts';
import type { Logger } from '../log/logger.ts';
import { listenForMetrics } from '../metrics/listener.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';

/** `notReadyReason`: the reason shown by `/readyz`. Throws ListenError when it cannot bind the configured address. */
export async function openMetrics(
  config: Config,
  indexPath: string,
  notReadyReason: () => string | null,
  log: Logger,
  closers: CleanupStack,
): Promise<Metrics> {
  const metrics = closers.adopt(createMetrics(), (metrics) => metrics.close());
  metrics.buildInfo.set({ version: versionText }, 1);
  registerFileGauges(metrics, indexPath);
  const address = parseListen(config.metrics.listen);
  if (address !== undefined) {
    const listener = closers.adopt(
      await listenForMetrics(address, metrics, notReadyReason, log),
      (listener) => listener.close(),
    );
    log.info({ url: listener.url }, 'metrics are served');
  }
  return metrics;
}

/** Sizes of the index files, read when the metrics are scraped. */
type FileMetrics = Pick<Metrics, 'onCollect' | 'indexBytes' | 'walBytes' | 'diskFreeBytes'>;

/** Sets the gauges of `index.db` and its disk. A missing file counts as 0 bytes. */
export function registerFileGauges(metrics: FileMetrics, indexPath: string): void {
  metrics.onCollect(() => {
    metrics.indexBytes.set(fileBytes(indexPath));
    metrics.walBytes.set(fileBytes(`${indexPath}-wal`));
    metrics.diskFreeBytes.set(freeDiskBytes(indexPath));
  });
}
