/** The metrics of this process, and their own listener if one is configured. */
import { parseListen } from '../config/values.ts';
import type { Config } from '../config.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import type { Logger } from '../log.ts';
import { registerFileGauges } from '../metrics/file-gauges.ts';
import { listenForMetrics } from '../metrics/listener.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { versionText } from '../version.ts';

/** Throws ListenError when it cannot bind the configured address. */
export async function openMetrics(
  config: Config,
  indexPath: string,
  log: Logger,
  closers: CleanupStack,
): Promise<Metrics> {
  const metrics = closers.adopt(createMetrics(), (metrics) => metrics.close());
  metrics.buildInfo.set({ version: versionText }, 1);
  registerFileGauges(metrics, indexPath);
  const address = parseListen(config.metrics.listen);
  if (address !== undefined) {
    const listener = closers.adopt(await listenForMetrics(address, metrics, log), (listener) =>
      listener.close(),
    );
    log.info({ url: listener.url }, 'metrics are served');
  }
  return metrics;
}
