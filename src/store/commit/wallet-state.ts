/**
 * One row of `wallets` while a commit changes it: the layout of its record, and a view that reads and writes it, with
 * the open page of its history (store/paged-history.ts).
 */

import { ADDRESS_BYTES } from '../schema.ts';
import { ENTRIES_PER_PAGE, HistoryCursor, maxEntryBytes, writeEntry } from '../wallet-history.ts';
import type { PagePool } from './page-pool.ts';
import { SUM_WORDS, type WideSums } from './wide-sums.ts';

/**
 * Offsets in a record, in units of 8 bytes. 0 means that a fact or funder is absent; no transfer or funder has id 0.
 */
export const ID = 0;
const TRANSFERS = 1;
const TRANSACTIONS = 2;
const TOKENS = 3;
const TOKEN_TRANSFERS = 4;
const INTERNAL_RECEIVED = 5;
const FIRST_TRANSFER = 6;
const LAST_TRANSFER = 7;
const FIRST_DIRECT = 8;
const FIRST_INTERNAL = 9;
const LATEST_DIRECT = 10;
const LATEST_INTERNAL = 11;
const FUNDER = 12;
const FUNDING = 13;
const FUNDED = 14;
const STORED_FUNDER = 15;
const STORED_FUNDING = 16;
const COUNTED_TRANSACTION = 17;
const PAGE = 18;
const PAGE_LENGTH = 19;
const PAGE_CAPACITY = 20;
const RECEIVED = 21;
const SENT = RECEIVED + SUM_WORDS / 2;
export const ADDRESS = SENT + SUM_WORDS / 2;
export const RECORD = ADDRESS + Math.ceil(ADDRESS_BYTES / 8);

/** Spare bytes after a loaded page: enough for what most wallets add in a commit. */
const SPARE_BYTES = 48;

/** The record storage of a commit (wallet-states.ts). */
interface WalletRecords {
  /** The records as numbers. Growing replaces the array. */
  readonly numbers: Float64Array;
  readonly sums: WideSums;
  readonly pages: PagePool;
  addressAt(slot: number): Uint8Array;
}

/** A view of one wallet's record; setters change it in place. Field meanings: store/schema.ts. */
export class WalletState {
  readonly slot: number;
  private readonly records: WalletRecords;
  private readonly base: number;

  constructor(records: WalletRecords, slot: number) {
    this.records = records;
    this.slot = slot;
    this.base = slot * RECORD;
  }

  get id(): number {
    return this.read(ID);
  }
  get transfers(): number {
    return this.read(TRANSFERS);
  }
  set transfers(value: number) {
    this.write(TRANSFERS, value);
  }
  get transactions(): number {
    return this.read(TRANSACTIONS);
  }
  set transactions(value: number) {
    this.write(TRANSACTIONS, value);
  }
  get tokens(): number {
    return this.read(TOKENS);
  }
  set tokens(value: number) {
    this.write(TOKENS, value);
  }
  get tokenTransfers(): number {
    return this.read(TOKEN_TRANSFERS);
  }
  set tokenTransfers(value: number) {
    this.write(TOKEN_TRANSFERS, value);
  }
  get internalReceived(): number {
    return this.read(INTERNAL_RECEIVED);
  }
  set internalReceived(value: number) {
    this.write(INTERNAL_RECEIVED, value);
  }
  get firstTransfer(): number | null {
    return this.readFact(FIRST_TRANSFER);
  }
  set firstTransfer(value: number | null) {
    this.write(FIRST_TRANSFER, value ?? 0);
  }
  get lastTransfer(): number | null {
    return this.readFact(LAST_TRANSFER);
  }
  set lastTransfer(value: number | null) {
    this.write(LAST_TRANSFER, value ?? 0);
  }
  get firstDirect(): number | null {
    return this.readFact(FIRST_DIRECT);
  }
  set firstDirect(value: number | null) {
    this.write(FIRST_DIRECT, value ?? 0);
  }
  get firstInternal(): number | null {
    return this.readFact(FIRST_INTERNAL);
  }
  set firstInternal(value: number | null) {
    this.write(FIRST_INTERNAL, value ?? 0);
  }
  get latestDirect(): number | null {
    return this.readFact(LATEST_DIRECT);
  }
  set latestDirect(value: number | null) {
    this.write(LATEST_DIRECT, value ?? 0);
  }
  get latestInternal(): number | null {
    return this.readFact(LATEST_INTERNAL);
  }
  set latestInternal(value: number | null) {
    this.write(LATEST_INTERNAL, value ?? 0);
  }
  get funder(): number | null {
    return this.readFact(FUNDER);
  }
  set funder(value: number | null) {
    this.write(FUNDER, value ?? 0);
  }
  get funding(): number | null {
    return this.readFact(FUNDING);
  }
  set funding(value: number | null) {
    this.write(FUNDING, value ?? 0);
  }
  get funded(): number {
    return this.read(FUNDED);
  }
  set funded(value: number) {
    this.write(FUNDED, value);
  }
  /** Funder and funding in the stored row. */
  get storedFunder(): number | null {
    return this.readFact(STORED_FUNDER);
  }
  get storedFunding(): number | null {
    return this.readFact(STORED_FUNDING);
  }
  /** First transfer of the last counted transaction, so that each transaction counts once. */
  get countedTransaction(): number {
    return this.read(COUNTED_TRANSACTION);
  }
  set countedTransaction(value: number) {
    this.write(COUNTED_TRANSACTION, value);
  }

  /** 20 bytes, valid until the commit adds another wallet. */
  get address(): Uint8Array {
    return this.records.addressAt(this.slot);
  }

  /** Wei received and sent, as shortest big-endian bytes. Neither is negative. */
  get nativeReceived(): Uint8Array {
    return this.records.sums.toBytes(this.sumAt(RECEIVED));
  }
  get nativeSent(): Uint8Array {
    return this.records.sums.toBytes(this.sumAt(SENT));
  }

  /** Whether more wei were subtracted than ever added. */
  get hasNegativeSum(): boolean {
    const { sums } = this.records;
    return sums.sign(this.sumAt(RECEIVED)) < 0 || sums.sign(this.sumAt(SENT)) < 0;
  }

  addReceived(wei: Uint8Array): void {
    this.records.sums.add(this.sumAt(RECEIVED), wei, 0, wei.length);
  }
  addSent(wei: Uint8Array): void {
    this.records.sums.add(this.sumAt(SENT), wei, 0, wei.length);
  }
  subtractReceived(wei: Uint8Array): void {
    this.records.sums.subtract(this.sumAt(RECEIVED), wei, 0, wei.length);
  }
  subtractSent(wei: Uint8Array): void {
    this.records.sums.subtract(this.sumAt(SENT), wei, 0, wei.length);
  }

  /** Loads the stored first funding and the concatenated blobs of the row. */
  loadStored(receivedLength: number, sentLength: number, blobs: Uint8Array): void {
    this.write(STORED_FUNDER, this.read(FUNDER));
    this.write(STORED_FUNDING, this.read(FUNDING));
    const pageAt = receivedLength + sentLength;
    this.records.sums.add(this.sumAt(RECEIVED), blobs, 0, receivedLength);
    this.records.sums.add(this.sumAt(SENT), blobs, receivedLength, pageAt);
    this.setPage(blobs, pageAt, blobs.length, SPARE_BYTES);
  }

  /** Number of finished history pages before the open one. */
  get finishedPages(): number {
    return (this.transfers - this.recentCount) / ENTRIES_PER_PAGE;
  }

  /** Number of entries in the open page. */
  get recentCount(): number {
    const { transfers } = this;
    return transfers === 0 ? 0 : ((transfers - 1) % ENTRIES_PER_PAGE) + 1;
  }

  /** The open page. Valid until the next change. */
  get recent(): Uint8Array {
    const { pages } = this.records;
    const position = this.read(PAGE);
    const start = pages.offsetOf(position);
    return pages.chunkAt(position).subarray(start, start + this.read(PAGE_LENGTH));
  }

  /** Turns a finished page back into the open one. */
  reopen(page: Uint8Array): void {
    this.setPage(page, 0, page.length, 0);
  }

  /** Shortens the open page. */
  truncateRecent(length: number): void {
    this.write(PAGE_LENGTH, length);
  }

  /**
   * Adds and counts an entry for transfer `id`. If the open page was full, returns it for the caller to store. Ids must
   * ascend.
   */
  addEntry(id: number, flags: number, counterparty: number, wei: Uint8Array | null): FinishedPage | null {
    const finished = this.recentCount === ENTRIES_PER_PAGE ? this.finishPage() : null;
    this.ensureCapacity(maxEntryBytes(wei));
    const first = this.read(FIRST_TRANSFER);
    if (first === 0) this.write(FIRST_TRANSFER, id);
    const length = this.read(PAGE_LENGTH);
    const before = length === 0 ? first || id : this.read(LAST_TRANSFER);
    const { pages } = this.records;
    const position = this.read(PAGE);
    const start = pages.offsetOf(position);
    const end = writeEntry(pages.chunkAt(position), start + length, id - before, flags, counterparty, wei);
    this.write(PAGE_LENGTH, end - start);
    this.write(TRANSFERS, this.read(TRANSFERS) + 1);
    this.write(LAST_TRANSFER, id);
    return finished;
  }

  private finishPage(): FinishedPage {
    const entries = this.recent.slice();
    this.write(PAGE_LENGTH, 0);
    return { first: firstTransferOf(entries, this.read(FIRST_TRANSFER)), entries };
  }

  private ensureCapacity(bytes: number): void {
    if (this.read(PAGE_LENGTH) + bytes <= this.read(PAGE_CAPACITY)) return;
    const { recent } = this;
    this.setPage(recent, 0, recent.length, this.read(PAGE_CAPACITY) + SPARE_BYTES);
  }

  /** Copies the bytes from `start` to `end` into the open page, with `spare` bytes of room after them. */
  private setPage(from: Uint8Array, start: number, end: number, spare: number): void {
    const { pages } = this.records;
    const length = end - start;
    const position = pages.allocate(length + spare);
    pages.chunkAt(position).set(from.subarray(start, end), pages.offsetOf(position));
    this.write(PAGE, position);
    this.write(PAGE_LENGTH, length);
    this.write(PAGE_CAPACITY, length + spare);
  }

  private read(field: number): number {
    return this.records.numbers[this.base + field]!;
  }

  private readFact(field: number): number | null {
    return this.records.numbers[this.base + field]! || null;
  }

  private write(field: number, value: number): void {
    this.records.numbers[this.base + field] = value;
  }

  /** The offset of a sum, in 32-bit words. */
  private sumAt(field: number): number {
    return (this.base + field) * 2;
  }
}

/** A full page on its way to the `activity` table. */
interface FinishedPage {
  first: number;
  entries: Uint8Array;
}

const firstEntry = new HistoryCursor();
function firstTransferOf(bytes: Uint8Array, base: number): number {
  firstEntry.open(bytes, base).next();
  return firstEntry.transfer;
}
