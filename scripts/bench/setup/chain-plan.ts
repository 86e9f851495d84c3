/** The chain that all measurements use. Pure. */
import type { BenchOptions } from '../options.ts';
import type { ChainPlan } from '../workers/chain-node.ts';

/** Seed of the generator, the same in every run, so that runs can be compared. */
const SEED = 1;

/** Transactions of an ordinary block, on average. */
const TX_PER_BLOCK = 200;
/** Transfers per generated transaction, on average. */
const TRANSFERS_PER_TX = 1.47;

/** A busy block at the head, and blocks every 300 ms at 10,000 transfers per second. */
export const LARGE_TRANSFERS = 10_000;
export const FAST_TRANSFERS = 3_000;
export const FAST_BLOCK_MS = 300;

/**
 * Most transfers indexed while the daemon is under other load: as many as are filled first, up to a million. That takes
 * long enough for some four hundred requests to each endpoint, whose 99th percentile is then not just one of the
 * slowest.
 */
const MAX_MORE_TRANSFERS = 1_000_000;

/** `fill` fills the index, `more` continues in the same way, `large` and `fast` follow at the head. */
export function chainPlan({ transfers, quick }: Pick<BenchOptions, 'transfers' | 'quick'>): ChainPlan {
  const ordinary = { txPerBlock: TX_PER_BLOCK, even: false };
  const even = (size: number) => ({ txPerBlock: Math.round(size / TRANSFERS_PER_TX), even: true });
  return {
    seed: SEED,
    segments: {
      fill: { transfers, blocks: 1, ...ordinary },
      more: {
        transfers: Math.min(transfers, MAX_MORE_TRANSFERS),
        blocks: streamBlocks(quick) * 2,
        ...ordinary,
      },
      large: { transfers: 0, blocks: quick ? 1 : 9, ...even(LARGE_TRANSFERS) },
      fast: { transfers: 0, blocks: quick ? 3 : 40, ...even(FAST_TRANSFERS) },
    },
  };
}

/** Blocks of `more` that are reserved for the streams, which take them one by one. */
export function streamBlocks(quick: boolean): number {
  return quick ? 6 : 50;
}
