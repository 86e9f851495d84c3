/** History in PostgreSQL, if configured. */
import { configuredTradeLists } from '../config/configured-lists.ts';
import type { Config } from '../config/parse-config.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { SinkClient } from '../sink/sink-client.ts';

/** Time for the sink to end, milliseconds: the next start writes the rest. */
const SINK_STOP_MS = 6_000;

export interface SinkDeps {
  indexPath: string;
  metrics: Metrics;
  log: Logger;
}

/** Starts the sink's thread; undefined when `sink.postgres.url` is empty. */
export function startSink(
  { sink: { postgres }, index, trades }: Config,
  { indexPath, metrics, log }: SinkDeps,
  closers: CleanupStack,
): SinkClient | undefined {
  if (postgres.url === '') return undefined;
  const client = new SinkClient(
    {
      indexPath,
      url: postgres.url,
      schema: postgres.schema,
      fromBlock: postgres.from_block,
      finality: postgres.finality,
      maxReorg: index.max_reorg,
      wallets: postgres.wallets,
      partitionBlocks: postgres.partition_blocks,
      tradeLists: configuredTradeLists({ trades }),
    },
    {
      onStatus(status, delta) {
        metrics.sinkBlock.setOrClear(status.block);
        metrics.sinkLagBlocks.setOrClear(status.lagBlocks);
        metrics.sinkState.reset();
        metrics.sinkState.set({ state: status.state }, 1);
        metrics.sinkTransfers.inc(delta.transfers);
        metrics.sinkErrors.inc(delta.errors);
        metrics.sinkRollbacks.inc(delta.rollbacks);
        for (const seconds of delta.delays) metrics.sinkDelay.observe(seconds);
      },
      log,
    },
  );
  return closers.adopt(client, (client, leftMs) => client.stop(Math.min(leftMs, SINK_STOP_MS)), 'at once');
}
