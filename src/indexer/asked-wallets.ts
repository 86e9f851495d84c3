/**
 * Wallets that the indexer was asked to examine: each is posted once in a while, as the indexer may be busy for
 * seconds.
 */

/** Time until a wallet may be posted again, milliseconds. */
const REPEAT_MS = 10_000;
/** Most wallets posted in that time. */
const MAX_WALLETS = 20_000;

export class AskedWallets {
  private readonly asked = new Set<number>();
  private since = Number.NEGATIVE_INFINITY;

  /** Those that are to be posted now; `now` in milliseconds. */
  add(wallets: readonly number[], now: number): number[] {
    if (now - this.since >= REPEAT_MS) {
      this.asked.clear();
      this.since = now;
    }
    const due = wallets.filter((wallet) => !this.asked.has(wallet)).slice(0, MAX_WALLETS - this.asked.size);
    for (const wallet of due) this.asked.add(wallet);
    return due;
  }
}
