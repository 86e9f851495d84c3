/**
 * From addresses to ids of wallets and back. Between the two stand as many page reads as the rest of an answer about
 * one wallet needs, and the same few wallets are asked about again and again: so those asked about lately are kept.
 *
 * An id belongs to its address as long as the block that was the head when it was read is on the chain: the same
 * chain always gives the same ids (store/schema.ts), another branch may give them to others.
 */
import { ownText } from '../lib/own-text.ts';
import { RecentMap } from '../lib/recent-map.ts';
import type { Db } from '../store/open.ts';
import type { Hex } from '../types.ts';
import { tagOfBlock } from './blocks.ts';
import type { Head, Snapshot } from './snapshot.ts';
import type { WalletQuestion } from './wallet-question.ts';
import { addressOfWallet, walletIdOf } from './wallets.ts';

/** Entries of each direction that stay at least: with those on their way out, a megabyte. */
const KEPT = 4_096;

export class AddressBook {
  private readonly snapshot: Snapshot;
  private readonly readId: (address: string) => number | undefined;
  private readonly readAddress: (wallet: number) => Hex;
  private readonly readTag: (number: number) => string | undefined;
  private readonly ids = new RecentMap<string, number>(KEPT);
  private readonly addresses = new RecentMap<number, Hex>(KEPT);
  /** The head that the entries are known to hold for; null when there are none. */
  private checkedAt: Head | null = null;

  /** `snapshot` must be of the same connection. */
  constructor(db: Db, snapshot: Snapshot) {
    this.snapshot = snapshot;
    this.readId = walletIdOf(db);
    this.readAddress = addressOfWallet(db);
    this.readTag = tagOfBlock(db);
  }

  /** wallets.id of a checked address in lower case, undefined when it never stood in a transfer. */
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

  /** The address of who funded a wallet first, null when nobody did. */
  funderOf(wallet: { funder: number | null } | undefined): Hex | null {
    return wallet === undefined || wallet.funder === null ? null : this.addressOf(wallet.funder);
  }

  /** What is known of a checked address in lower case, undefined when there is no answer. */
  ask<T>(address: string, question: WalletQuestion<T>): T | undefined {
    this.follow();
    const wallet = this.ids.get(address);
    if (wallet !== undefined) return question.byId(wallet);
    const answer = question.byAddress(address);
    if (answer !== undefined) this.keep(address, answer.wallet);
    return answer;
  }

  /** What `read` tells of the wallet of an address, undefined when there is none. */
  about<T>(address: string, read: (wallet: number) => T | undefined): T | undefined {
    const wallet = this.idOf(address);
    return wallet === undefined ? undefined : read(wallet);
  }

  private keep(address: string, wallet: number): void {
    this.ids.set(ownText(address), wallet);
  }

  /** Forgets everything when the commit that is read is of another branch. */
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
