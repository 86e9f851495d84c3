/** A set of addresses by their ids in the index, so that a search through transfers reads no addresses. */
import type { StreamReads } from '../query/stream-reads.ts';

/** Up to this many new wallets are compared with the set; for a longer gap, each address of the set is looked up. */
const NEW_WALLETS_PER_READ = 2_000;

export class WatchSet {
  readonly addresses: ReadonlySet<string>;
  private readonly ids = new Set<number>();
  /** Wallets up to this id were compared with `addresses`; null before the first comparison. */
  private comparedUpTo: number | null = null;

  constructor(addresses: ReadonlySet<string>) {
    this.addresses = addresses;
  }

  /** Compares all new wallets up to `lastWallet`. Call it before `has`. */
  update(reads: Pick<StreamReads, 'walletId' | 'walletsAfter'>, lastWallet: number): void {
    if (this.comparedUpTo === null) {
      for (const address of this.addresses) {
        const id = reads.walletId(address);
        if (id !== undefined) this.ids.add(id);
      }
      this.comparedUpTo = lastWallet;
    }
    while (this.comparedUpTo < lastWallet) {
      const wallets = reads.walletsAfter(this.comparedUpTo, lastWallet, NEW_WALLETS_PER_READ);
      for (const { id, address } of wallets) if (this.addresses.has(address)) this.ids.add(id);
      this.comparedUpTo = wallets.length < NEW_WALLETS_PER_READ ? lastWallet : wallets.at(-1)!.id;
    }
  }

  /** Drops all ids, because a reorg reassigns some. */
  forget(): void {
    this.ids.clear();
    this.comparedUpTo = null;
  }

  has(id: number): boolean {
    return this.ids.has(id);
  }

  /** Ids of the indexed addresses of the set. */
  known(): number[] {
    return [...this.ids];
  }
}
