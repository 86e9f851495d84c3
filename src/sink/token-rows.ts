/**
 * Writes rows of `tokens` that do not come with their block: tokens from before the first block, and metadata that
 * arrived later.
 */
import type { BatchWriter } from './batch-writer.ts';
import type { IndexSource } from './index-source.ts';
import { storable, type Target } from './target.ts';

/** Tokens per transaction. */
const TOKENS_PER_STEP = 5_000;

/** Writes the tokens with ids above `after` that appeared up to a transfer. Returns the highest id written. */
export async function seedTokens(
  source: IndexSource,
  writer: BatchWriter,
  lastTransfer: number,
  after: number,
): Promise<number> {
  for (;;) {
    const tokens = source.tokensSeenUpTo(lastTransfer, after, TOKENS_PER_STEP);
    const last = tokens.at(-1);
    if (last === undefined) return after;
    await writer.writeTokens(tokens);
    after = last.id;
  }
}

/**
 * Copies names, symbols and decimals that the index has learned since. Checks one page of the tokens that may still
 * change, those above `after`, and returns where the next call continues.
 */
export async function refreshTokens(source: IndexSource, target: Target, after: number): Promise<number> {
  const stored = await target.unsettledTokens(after, TOKENS_PER_STEP);
  const known = new Map(stored.map((token) => [token.id, token]));
  const changed = source.tokensOf([...known.keys()]).filter((token) => {
    const before = known.get(token.id);
    return (
      token.settled === 1 ||
      storable(token.name) !== before?.name ||
      storable(token.symbol) !== before.symbol ||
      token.decimals !== before.decimals
    );
  });
  if (changed.length > 0) await target.updateTokens(changed);
  return stored.length < TOKENS_PER_STEP ? 0 : (stored.at(-1)?.id ?? 0);
}
