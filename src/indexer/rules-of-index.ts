/** Finds the rules by which the blocks of an index are decoded, and tells what a new index would count otherwise. */
import { isInMilliseconds } from '../decode/block-time.ts';
import {
  type ConfiguredLists,
  compareRules,
  completeRules,
  type IndexRules,
  isComplete,
  newRules,
  type RuleSources,
  type StoredRules,
} from '../model/index-rules.ts';
import type { Capabilities } from '../model/index-status.ts';
import type { IndexerContext } from './indexer-context.ts';
import { retryWriteAndReport } from './retry-write.ts';

/**
 * Mainnet, testnet and devnet. Recognised by chain id, because a proxy in front of a Monad node may not call itself
 * `Monad/`.
 */
const MONAD_CHAINS = new Set([143, 10143, 20143]);

export function ruleSources({ chainId, client }: Capabilities, configured: ConfiguredLists): RuleSources {
  return { chainId, monad: client.startsWith('Monad/') || MONAD_CHAINS.has(chainId), configured };
}

/** The rules of an index with these stored ones; null for a new index. */
export function rulesOfIndex(stored: StoredRules | null, sources: RuleSources): IndexRules {
  return stored === null ? newRules(sources) : completeRules(stored, sources);
}

/**
 * The rules by which to index. Completes those of an index of an earlier release for good, and tells once what a new
 * index would count otherwise. Null when the signal aborts first.
 */
export async function settleRules(
  context: IndexerContext,
  sources: RuleSources,
  signal: AbortSignal,
): Promise<IndexRules | null> {
  const { store, progress, log } = context;
  const stored = store.head() === null ? null : store.rules();
  const made = rulesOfIndex(stored, sources);
  if (stored !== null && !isComplete(stored)) {
    if (!(await retryWriteAndReport(context, () => store.setRules(made), signal))) return null;
    const { version, wrappedNative } = made;
    log.info({ version, wrappedNative }, 'the index now keeps the rules of its configuration');
  }
  const found = compareRules(made, sources);
  const hasMilliseconds = isInMilliseconds(store.latestTime());
  if (hasMilliseconds) found.changes.push('block times are read as milliseconds, not as seconds');
  const before = progress.setRules(found);
  if (before === null && hasMilliseconds)
    log.warn(
      { advice: 'stop, delete index.db and start again' },
      'an earlier release stored block times of this index in milliseconds, so times and windows are wrong',
    );
  if (before === null && found.changes.length > 0) {
    const fields = { version: made.version, newest: found.newest, changes: found.changes };
    if (found.isConfigured)
      log.warn(
        fields,
        'the configuration lists other contracts than this index was made with; it keeps its own',
      );
    else log.info(fields, 'a new index would count more transfers; this one keeps its rules');
  }
  return made;
}
