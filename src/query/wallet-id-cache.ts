/**
 * A cache from addresses to wallet ids and back. A lookup takes as many page reads as the rest of an answer about one
 * wallet, and clients request the same few wallets repeatedly.
 *
 * An id belongs to its address as long as the block that was the head at the time of the read is on the chain and no
 * repair rewrites it: the same chain always yields the same ids (store/schema.ts), another branch may assign them to
 * other addresses.
 */

import { BranchWatch } from '../follower/branch-watch.ts';
import type { Hex } from '../lib/hex.ts';
import { LruMap } from '../lib/lru-map.ts';
import { detachString } from '../lib/text.ts';
import { currentMark } from '../model/rewrites.ts';
import type { Db } from '../store/open-database.ts';
import { prepareHashPrefix } from './blocks.ts';
import type { Head, Snapshot } from './snapshot.ts';
import { prepareAddressByWalletId, prepareWalletIdByAddress, type WalletQuery } from './wallets.ts';

/** Fewest cached entries per direction. Including those about to be evicted, they take a megabyte. */
const MIN_ENTRIES = 4_096;

/** A power of two. Wallets whose ids end in the same bits share a slot. */
const RECENT_SLOTS = 16_384;

/**
 * The wallets of recent cache misses. Only a wallet looked up for the second time gets an entry: otherwise clients that
 * walk through all wallets would fill the cache with entries that are never used again, at 3 % of each answer.
 */
class RecentWallets {
  private readonly slots = new Int32Array(RECENT_SLOTS);

  /** Records a wallet. Returns whether it was recorded before. */
  noteAgain(wallet: number): boolean {
    const slot = wallet & (RECENT_SLOTS - 1);
    const isNoted = this.slots[slot] === wallet;
    this.slots[slot] = wallet;
    return isNoted;
  }
}

export class WalletIdCache {
  private readonly snapshot: Snapshot;
  private readonly readId: (address: string) => number | undefined;
  private readonly readAddress: (wallet: number) => Hex;
  private readonly branch: BranchWatch;
  private readonly ids = new LruMap<string, number>(MIN_ENTRIES);
  private readonly addresses = new LruMap<number, Hex>(MIN_ENTRIES);
  private readonly requested = new RecentWallets();
  private readonly named = new RecentWallets();
  /** The head for which the entries are known to be valid. */
  private validForHead: Head | null = null;

  /** `snapshot` must belong to the same connection. */
  constructor(db: Db, snapshot: Snapshot) {
    this.snapshot = snapshot;
    this.readId = prepareWalletIdByAddress(db);
    this.readAddress = prepareAddressByWalletId(db);
    this.branch = new BranchWatch(prepareHashPrefix(db));
  }

  /** wallets.id of a valid lower-case address, undefined when no transfer contains it. */
  idOf(address: string): number | undefined {
    this.invalidateOnReorg();
    const cached = this.ids.get(address);
    if (cached !== undefined) return cached;
    const id = this.readId(address);
    if (id !== undefined) this.cacheId(address, id);
    return id;
  }

  /** The address of an indexed wallet. */
  addressOf(wallet: number): Hex {
    this.invalidateOnReorg();
    const cached = this.addresses.get(wallet);
    if (cached !== undefined) return cached;
    const address = this.readAddress(wallet);
    if (this.named.noteAgain(wallet)) this.addresses.set(wallet, address);
    return address;
  }

  /** The address of the wallet's first funder, null without one. */
  funderOf(wallet: { funder: number | null } | undefined): Hex | null {
    return wallet === undefined || wallet.funder === null ? null : this.addressOf(wallet.funder);
  }

  /** The answer about a valid lower-case address, undefined when there is none. */
  query<T>(address: string, query: WalletQuery<T>): T | undefined {
    this.invalidateOnReorg();
    const wallet = this.ids.get(address);
    if (wallet !== undefined) return query.byId(wallet);
    const answer = query.byAddress(address);
    if (answer !== undefined) this.cacheId(address, answer.wallet);
    return answer;
  }

  /** The result of `read` for the wallet of an address, undefined without a wallet. */
  withId<T>(address: string, read: (wallet: number) => T | undefined): T | undefined {
    const wallet = this.idOf(address);
    return wallet === undefined ? undefined : read(wallet);
  }

  private cacheId(address: string, wallet: number): void {
    if (this.requested.noteAgain(wallet)) this.ids.set(detachString(address), wallet);
  }

  /** Drops everything when the commit being read belongs to another branch. */
  private invalidateOnReorg(): void {
    const head = this.snapshot.head();
    if (head === this.validForHead) return;
    const marked = head && { number: head.number, hash: head.hashPrefix, mark: currentMark(head.rewrites) };
    if (this.branch.isChanged(marked)) {
      this.ids.clear();
      this.addresses.clear();
    }
    this.validForHead = head;
  }
}
