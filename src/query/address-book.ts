/**
 * A cache from addresses to wallet ids and back. A lookup takes as many page reads as the rest of an answer about one
 * wallet, and the same few wallets are requested again and again.
 *
 * An id belongs to its address as long as the block that was the head when it was read is on the chain: the same chain
 * always gives the same ids (store/schema.ts), another branch may give them to other addresses.
 */
import { ownText } from '../lib/own-text.ts';
import { RecentMap } from '../lib/recent-map.ts';
import type { Db } from '../store/open.ts';
import type { Hex } from '../types.ts';
import { tagOfBlock } from './blocks.ts';
import type { Head, Snapshot } from './snapshot.ts';
import type { WalletQuestion } from './wallet-question.ts';
import { addressOfWallet, walletIdOf } from './wallets.ts';

/** Entries of each direction that are kept at least; with those about to be dropped, a megabyte. */
const KEPT = 4_096;

export class AddressBook {
  private readonly snapshot: Snapshot;
  private readonly readId: (address: string) => number | undefined;
  private readonly readAddress: (wallet: number) => Hex;
  private readonly readTag: (number: number) => string | undefined;
  private readonly ids = new RecentMap<string, number>(KEPT);
  private readonly addresses = new RecentMap<number, Hex>(KEPT);
  /** The head for which the entries are known to be valid; null when there are none. */
  private checkedAt: Head | null = null;

  /** `snapshot` must be of the same connection. */
  constructor(db: Db, snapshot: Snapshot) {
    this.snapshot = snapshot;
    this.readId = walletIdOf(db);
    this.readAddress = addressOfWallet(db);
    this.readTag = tagOfBlock(db);
  }

  /** wallets.id of a checked address in lower case, undefined when it occurs in no transfer. */
  idOf(address: string): number | undefined {
    this.follow();
    const kept = this.ids.get(address);
    if (kept !== undefined) return kept;
    const id = this.readId(address);
    if (id !== undefined) this.keep(address, id);
    return id;
  }

  /** The address of a wallet that the index holds. */
  addressOf(wallet: number): Hex {
    this.follow();
    const kept = this.addresses.get(wallet);
    if (kept !== undefined) return kept;
    const address = this.readAddress(wallet);
    this.addresses.set(wallet, address);
    return address;
  }

  /** The address of the wallet's first funder, null when it has none. */
  funderOf(wallet: { funder: number | null } | undefined): Hex | null {
    return wallet === undefined || wallet.funder === null ? null : this.addressOf(wallet.funder);
  }

  /** The answer about a checked address in lower case, undefined when there is none. */
  ask<T>(address: string, question: WalletQuestion<T>): T | undefined {
    this.follow();
    const wallet = this.ids.get(address);
    if (wallet !== undefined) return question.byId(wallet);
    const answer = question.byAddress(address);
    if (answer !== undefined) this.keep(address, answer.wallet);
    return answer;
  }

  /** The result of `read` for the wallet of an address, undefined when there is none. */
  about<T>(address: string, read: (wallet: number) => T | undefined): T | undefined {
    const wallet = this.idOf(address);
    return wallet === undefined ? undefined : read(wallet);
  }

  private keep(address: string, wallet: number): void {
    this.ids.set(ownText(address), wallet);
  }

  /** Drops everything when the commit being read is of another branch. */
  private follow(): void {
    const head = this.snapshot.head();
    if (head === this.checkedAt) return;
    if (head === null || this.checkedAt === null || !this.holds(this.checkedAt, head)) {
      this.ids.clear();
      this.addresses.clear();
    }
    this.checkedAt = head;
  }

  private holds(block: Head, head: Head): boolean {
    if (block.number === head.number) return block.tag === head.tag;
    return this.readTag(block.number) === block.tag;
  }
}
