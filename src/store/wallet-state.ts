/**
 * Rows of `wallets` while a commit changes them, as records in one buffer: a commit of a backfill changes half a million,
 * which as objects would take twice the memory and more time of the garbage collector than of the writer.
 *
 * The newest transfers of a wallet are its open page, in `wallets.recent`. A full page moves to `activity` and never
 * changes again.
 */
import { ascendingOrder } from '../lib/ascending-order.ts';
import { PagePool } from './page-pool.ts';
import { ADDRESS_BYTES } from './schema.ts';
import { EMPTY, hashOfBytes, hashOfNumbers, isOversized, SlotTable } from './slot-table.ts';
import { ENTRIES_PER_PAGE, HistoryCursor, maxEntryBytes, writeEntry } from './wallet-history.ts';
import { SUM_WORDS, WideSums } from './wide-sums.ts';

/** Offsets in a record, in numbers of 8 bytes. A fact or funder that is absent is 0, which no transfer or funder has. */
const ID = 0;
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
const ADDRESS = SENT + SUM_WORDS / 2;
const RECORD = ADDRESS + Math.ceil(ADDRESS_BYTES / 8);

/** The id of a wallet that has none yet; 0 is that of the zero address. */
const NO_ID = -1;

const MIN_RECORDS = 256;

/** Free bytes after a loaded page: enough for what most wallets add in a commit. */
const SPARE_BYTES = 48;

/** All wallets of a commit, found by id or address. */
export class WalletStates {
  /** The records as numbers, as words and as bytes; replaced when they grow. */
  numbers = new Float64Array(MIN_RECORDS * RECORD);
  bytes = new Uint8Array(this.numbers.buffer);
  readonly sums = new WideSums();
  readonly pages = new PagePool();
  /** Records in use. */
  count = 0;
  private readonly byAddress = new SlotTable();
  private readonly byId = new SlotTable();

  constructor() {
    this.sums.words = new Uint32Array(this.numbers.buffer);
  }

  /** Bytes of memory. */
  get memoryBytes(): number {
    return this.bytes.length + this.pages.bytes + this.byAddress.bytes + this.byId.bytes;
  }

  /** Begins another commit: those of the previous one are gone. */
  reset(): void {
    if (isOversized(this.numbers.length / RECORD, this.count)) this.resize(MIN_RECORDS);
    this.numbers.fill(0, 0, Math.min(this.count * RECORD, this.numbers.length));
    this.count = 0;
    this.sums.reset();
    this.pages.reset();
    this.byAddress.clear();
    this.byId.clear();
  }

  /** The wallet in a slot. */
  at(slot: number): WalletState {
    return new WalletState(this, slot);
  }

  /** Its id, without a view of the wallet. */
  idAt(slot: number): number {
    return this.numbers[slot * RECORD]!;
  }

  hasId(slot: number): boolean {
    return this.idAt(slot) !== NO_ID;
  }

  addressOffset(slot: number): number {
    return (slot * RECORD + ADDRESS) * 8;
  }

  addressAt(slot: number): Uint8Array {
    const at = this.addressOffset(slot);
    return this.bytes.subarray(at, at + ADDRESS_BYTES);
  }

  /** The slot of the address at `start` in `bytes`; without an id when the address is new to the commit. */
  slotOfAddress(bytes: Uint8Array, start: number): number {
    const table = this.byAddress;
    let place = table.placeOf(hashOfBytes(bytes, start, start + ADDRESS_BYTES));
    for (let slot = table.slotAt(place); slot !== EMPTY; slot = table.slotAt(place)) {
      if (this.hasAddress(slot, bytes, start)) return slot;
      place = table.after(place);
    }
    const added = this.add(bytes, start);
    table.put(place, added, this.hashOfAddressAt);
    return added;
  }

  /** Gives the wallet in a slot its id. */
  setId(slot: number, id: number): void {
    this.numbers[slot * RECORD + ID] = id;
    const table = this.byId;
    let place = table.placeOf(hashOfNumbers(id, 0));
    while (table.slotAt(place) !== EMPTY) place = table.after(place);
    table.put(place, slot, this.hashOfIdAt);
  }

  /** The wallet with an id, undefined when the commit does not have it yet. */
  find(id: number): WalletState | undefined {
    const table = this.byId;
    let place = table.placeOf(hashOfNumbers(id, 0));
    for (let slot = table.slotAt(place); slot !== EMPTY; slot = table.slotAt(place)) {
      if (this.idAt(slot) === id) return this.at(slot);
      place = table.after(place);
    }
    return undefined;
  }

  /** Adds a record without an id for the address at `start` in `bytes`. */
  add(bytes: Uint8Array, start: number): number {
    const slot = this.count++;
    if (this.count * RECORD > this.numbers.length) this.resize(Math.ceil(slot * 1.5));
    this.numbers[slot * RECORD + ID] = NO_ID;
    const at = this.addressOffset(slot);
    for (let i = 0; i < ADDRESS_BYTES; i++) this.bytes[at + i] = bytes[start + i]!;
    return slot;
  }

  private hasAddress(slot: number, bytes: Uint8Array, start: number): boolean {
    const at = this.addressOffset(slot);
    for (let i = 0; i < ADDRESS_BYTES; i++) if (this.bytes[at + i] !== bytes[start + i]) return false;
    return true;
  }

  private readonly hashOfAddressAt = (slot: number): number => {
    const at = this.addressOffset(slot);
    return hashOfBytes(this.bytes, at, at + ADDRESS_BYTES);
  };

  /** All slots, by id. */
  inOrder(): Uint32Array {
    const ids = new Float64Array(this.count);
    for (let slot = 0; slot < this.count; slot++) ids[slot] = this.idAt(slot);
    return ascendingOrder(ids);
  }

  private readonly hashOfIdAt = (slot: number): number => hashOfNumbers(this.idAt(slot), 0);

  private resize(records: number): void {
    const buffer = this.numbers.buffer.transfer(records * RECORD * 8);
    this.numbers = new Float64Array(buffer);
    this.bytes = new Uint8Array(buffer);
    this.sums.words = new Uint32Array(buffer);
  }
}

/** One wallet's row, changed in place: a view of its record. Field meanings: store/schema.ts. */
export class WalletState {
  readonly slot: number;
  private readonly states: WalletStates;
  private readonly base: number;

  constructor(states: WalletStates, slot: number) {
    this.states = states;
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

  /** 20 bytes, valid until a wallet is added to the commit. */
  get address(): Uint8Array {
    return this.states.addressAt(this.slot);
  }

  /** Wei received and sent, as their shortest big-endian bytes; neither is negative. */
  get nativeReceived(): Uint8Array {
    return this.states.sums.toBytes(this.sumAt(RECEIVED));
  }
  get nativeSent(): Uint8Array {
    return this.states.sums.toBytes(this.sumAt(SENT));
  }

  /** Whether more was subtracted from a sum of wei than was ever added. */
  get hasNegativeSum(): boolean {
    const { sums } = this.states;
    return sums.sign(this.sumAt(RECEIVED)) < 0 || sums.sign(this.sumAt(SENT)) < 0;
  }

  addReceived(wei: Uint8Array): void {
    this.states.sums.add(this.sumAt(RECEIVED), wei, 0, wei.length);
  }
  addSent(wei: Uint8Array): void {
    this.states.sums.add(this.sumAt(SENT), wei, 0, wei.length);
  }
  subtractReceived(wei: Uint8Array): void {
    this.states.sums.subtract(this.sumAt(RECEIVED), wei, 0, wei.length);
  }
  subtractSent(wei: Uint8Array): void {
    this.states.sums.subtract(this.sumAt(SENT), wei, 0, wei.length);
  }

  /** Takes over what the stored row says of the first funding, and the blobs of the row, concatenated. */
  loadStored(receivedLength: number, sentLength: number, blobs: Uint8Array): void {
    this.write(STORED_FUNDER, this.read(FUNDER));
    this.write(STORED_FUNDING, this.read(FUNDING));
    const pageAt = receivedLength + sentLength;
    this.states.sums.add(this.sumAt(RECEIVED), blobs, 0, receivedLength);
    this.states.sums.add(this.sumAt(SENT), blobs, receivedLength, pageAt);
    this.setPage(blobs, pageAt, blobs.length, SPARE_BYTES);
  }

  /** Pages of its history before the open one. */
  get finishedPages(): number {
    return (this.transfers - this.recentCount) / ENTRIES_PER_PAGE;
  }

  /** Entries in the open page. */
  get recentCount(): number {
    const { transfers } = this;
    return transfers === 0 ? 0 : ((transfers - 1) % ENTRIES_PER_PAGE) + 1;
  }

  /** The open page. Valid until the next change. */
  get recent(): Uint8Array {
    const { pages } = this.states;
    const position = this.read(PAGE);
    const start = pages.offsetOf(position);
    return pages.chunkAt(position).subarray(start, start + this.read(PAGE_LENGTH));
  }

  /** Makes a finished page the open one. */
  reopen(page: Uint8Array): void {
    this.setPage(page, 0, page.length, 0);
  }

  /** Shortens the open page. */
  truncateRecent(length: number): void {
    this.write(PAGE_LENGTH, length);
  }

  /**
   * Adds an entry for transfer `id` and counts it. Returns the open page if it was full, for the caller to store.
   * Ids must ascend.
   */
  addEntry(id: number, flags: number, counterparty: number, wei: Uint8Array | null): FinishedPage | null {
    const finished = this.recentCount === ENTRIES_PER_PAGE ? this.finishPage() : null;
    this.ensureCapacity(maxEntryBytes(wei));
    const first = this.read(FIRST_TRANSFER);
    if (first === 0) this.write(FIRST_TRANSFER, id);
    const length = this.read(PAGE_LENGTH);
    const before = length === 0 ? first || id : this.read(LAST_TRANSFER);
    const { pages } = this.states;
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
    return { wallet: this.id, first: firstTransferOf(entries, this.read(FIRST_TRANSFER)), entries };
  }

  private ensureCapacity(bytes: number): void {
    if (this.read(PAGE_LENGTH) + bytes <= this.read(PAGE_CAPACITY)) return;
    const { recent } = this;
    this.setPage(recent, 0, recent.length, this.read(PAGE_CAPACITY) + SPARE_BYTES);
  }

  /** Makes the bytes from `start` to `end` the open page, with room for `spare` more. */
  private setPage(from: Uint8Array, start: number, end: number, spare: number): void {
    const { pages } = this.states;
    const length = end - start;
    const position = pages.allocate(length + spare);
    pages.chunkAt(position).set(from.subarray(start, end), pages.offsetOf(position));
    this.write(PAGE, position);
    this.write(PAGE_LENGTH, length);
    this.write(PAGE_CAPACITY, length + spare);
  }

  private read(field: number): number {
    return this.states.numbers[this.base + field]!;
  }

  private readFact(field: number): number | null {
    return this.states.numbers[this.base + field]! || null;
  }

  private write(field: number, value: number): void {
    this.states.numbers[this.base + field] = value;
  }

  /** The offset of a sum, in words. */
  private sumAt(field: number): number {
    return (this.base + field) * 2;
  }
}

/** A full page on its way into the `activity` table. */
export interface FinishedPage {
  wallet: number;
  first: number;
  entries: Uint8Array;
}

const firstEntry = new HistoryCursor();
function firstTransferOf(bytes: Uint8Array, base: number): number {
  firstEntry.open(bytes, base).next();
  return firstEntry.transfer;
}
