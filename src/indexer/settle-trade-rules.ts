/** Records the lists by which trades are told, and tells when other ones are going to take their place. */
import type { IndexRules } from '../model/index-rules.ts';
import { type ConfiguredTradeLists, compareTradeRules, newTradeRules } from '../model/trade-rules.ts';
import type { IndexerContext } from './indexer-context.ts';
import { retryWriteAndReport } from './retry-write.ts';

/**
 * Call it before the first commit. The sums of trades by other lists than before are built beside indexing (derive.ts).
 * Returns false when the signal aborts first.
 */
export async function settleTradeRules(
  context: Pick<IndexerContext, 'store' | 'progress' | 'log'>,
  { wrappedNative }: IndexRules,
  { chainId, configured }: { chainId: number; configured: ConfiguredTradeLists },
  signal: AbortSignal,
): Promise<boolean> {
  const { store, progress, log } = context;
  const wanted = newTradeRules({ chainId, wrappedNative, configured });
  if (!(await retryWriteAndReport(context, () => store.setTradeRules(wanted), signal))) return false;
  const { current, next } = store.tradeRules();
  const changes = current === null || next === null ? [] : compareTradeRules(current, next);
  const isTold = progress.status.tradeChanges.length > 0;
  progress.setTradeChanges(changes);
  if (changes.length > 0 && !isTold)
    log.warn(
      { changes },
      'the lists of trades have changed; answers use the former ones until the sums by the new ones are complete',
    );
  return true;
}
