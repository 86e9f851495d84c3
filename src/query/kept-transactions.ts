/**
 * What readings of the transactions of tokens or wallets found, for the next ones: a client asks for the same window of
 * a busy token again at each new head, and then only the new blocks are read.
 */
import { BranchWatch } from '../follower/branch-watch.ts';
import { currentMark } from '../model/rewrites.ts';
import type { Db } from '../store/open-database.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import { type IdRange, prepareHashPrefix } from './blocks.ts';
import type { Head } from './snapshot.ts';
import { firstAtOrAfter, type KnownTransactions, type PlacedTransaction } from './token-transactions.ts';

/**
 * Most transactions, and readings without any, that are kept: some 10 MB. The largest token of a busy chain needs a
 * quarter.
 */
const MOST_KEPT = 16_384;

export class KeptTransactions<T extends PlacedTransaction> {
  private readonly branch: BranchWatch;
  /** The least recently used first. */
  private readonly kept = new Map<string, KnownTransactions<T>>();
  private lists = '';

  constructor(db: Db) {
    this.branch = new BranchWatch(prepareHashPrefix(db));
  }

  /** What is kept for a head; nothing after a rollback or a rewrite, or when the trade lists changed. */
  of(name: string, ids: TradeIds, { number, hashPrefix, rewrites }: Head): KnownTransactions<T> | null {
    const isChanged = this.branch.isChanged({ number, hash: hashPrefix, mark: currentMark(rewrites) });
    const lists = listsText(ids);
    if (isChanged || lists !== this.lists) this.kept.clear();
    this.lists = lists;
    return this.kept.get(name) ?? null;
  }

  /**
   * Adds what a reading found in a range, newest first. `isCut`: whether it ended there at its bounds, which a later
   * head only moves up.
   */
  keep(name: string, range: IdRange, found: readonly T[], isCut: boolean): void {
    const known = this.kept.get(name);
    if (known !== undefined && range.from > known.below) return; // far apart: what is known may be of more use
    const isOlder = known !== undefined && known.from < range.from && !isCut;
    const older = isOlder ? known.transactions.slice(0, firstAtOrAfter(known.transactions, range.from)) : [];
    const from = isOlder ? known.from : range.from;
    this.kept.delete(name);
    this.kept.set(name, { from, below: range.below, transactions: [...older, ...found.toReversed()] });
    this.dropOldest();
  }

  private dropOldest(): void {
    let count = this.kept.size;
    for (const { transactions } of this.kept.values()) count += transactions.length;
    for (const [name, { transactions }] of this.kept) {
      if (count <= MOST_KEPT) return;
      this.kept.delete(name);
      count -= 1 + transactions.length;
    }
  }
}

/** The lists by id. A contract has no id before its first transfer, which also is the first that the lists affect. */
function listsText({ feeSinks, equivalentContracts, nativeEquivalents, quoteTokens }: TradeIds): string {
  const lists = [feeSinks, equivalentContracts, nativeEquivalents, quoteTokens];
  return lists.map((list) => [...list].join()).join(' ');
}
