/**
 * Whether sums follow from the transfers once blocks were replaced. A rollback subtracts the rows that it finds. If the
 * disk changed them, that is not what was added, and the sums stay wrong.
 */
import { FatalError } from '../errors.ts';
import type { Db } from '../store/open-database.ts';
import { corruptionError } from '../store/storage-error.ts';
import { type CounterChecks, checkCounters } from './check-counters.ts';
import { Check } from './report.ts';
import type { SampleIds } from './sample-scan.ts';

/** Most wallets, and most tokens, that are recounted: enough to show damage, and one read of the transfers does it. */
const MAX_RECOUNTED = 20_000;

/** The wallets and tokens that the transfers of some blocks name. */
export function idsOfBlocks(db: Db, blocks: readonly number[]): SampleIds {
  const named = db.prepare<[number, number], { sender: number; receiver: number; token: number | null }>(
    /* sql */ `
      SELECT DISTINCT sender, receiver, token FROM transfers
      WHERE id > ifnull((SELECT last_transfer FROM blocks WHERE number < ? ORDER BY number DESC LIMIT 1), 0)
        AND id <= (SELECT last_transfer FROM blocks WHERE number = ?)`,
  );
  const wallets = new Set<number>();
  const tokens = new Set<number>();
  for (const block of blocks) {
    for (const { sender, receiver, token } of named.iterate(block, block)) {
      wallets.add(sender).add(receiver);
      if (token !== null) tokens.add(token);
    }
  }
  return { wallets: [...wallets], tokens: [...tokens] };
}

/**
 * Recounts wallets and tokens from all of their transfers, but for those of too many tokens or wallets; throws
 * FatalError with advice when one has other sums, or when the signal aborts before that is known.
 */
export async function requireSums(
  db: Db,
  path: string,
  ids: readonly SampleIds[],
  options: { signal: AbortSignal; onProgress(text: string): void },
): Promise<void> {
  const only = {
    wallets: [...new Set(ids.flatMap(({ wallets }) => wallets))].slice(0, MAX_RECOUNTED),
    tokens: [...new Set(ids.flatMap(({ tokens }) => tokens))].slice(0, MAX_RECOUNTED),
  };
  const checks: CounterChecks = { wallets: new Check('wallets'), tokens: new Check('tokens') };
  await checkCounters(db, checks, {
    sample: only.wallets.length,
    only,
    random: Math.random,
    signal: options.signal,
    onProgress: (done) => options.onProgress(`counting again: ${Math.floor(done * 100)} %`),
  });
  const [first] = [...checks.wallets.differences, ...checks.tokens.differences];
  if (first !== undefined) throw corruptionError(path, new Error(first.text));
  if (checks.wallets.compared === '')
    throw new FatalError(
      'the blocks were indexed again, but the sums of their wallets and tokens were not counted again: run "atlas-node verify"',
    );
}
