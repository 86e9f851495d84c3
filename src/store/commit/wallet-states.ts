/**
 * The rows of `wallets` that a commit changes, as records in one buffer. A backfill commit changes half a million rows;
 * as objects they would take twice the memory and cost more garbage collection than writing.
 */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import { ADDRESS_BYTES } from '../schema.ts';
import { PagePool } from './page-pool.ts';
import { EMPTY, hashOfBytes, hashOfNumbers, isOversized, SlotTable } from './slot-table.ts';
import { ADDRESS, ID, RECORD, WalletState } from './wallet-state.ts';
import { WideSums } from './wide-sums.ts';

/** Id of a wallet that has none yet. 0 is taken by the zero address. */
const NO_ID = -1;

const MIN_RECORDS = 256;

/** All wallets of a commit, by id or address. */
export class WalletStates {
  /** The same records as numbers, words and bytes. Growing replaces the arrays. */
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

  /** Memory used, bytes. */
  get memoryBytes(): number {
    return this.bytes.length + this.pages.bytes + this.byAddress.bytes + this.byId.bytes;
  }

  /** Starts a new commit and drops the wallets of the previous one. */
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

  /** The id of the wallet in a slot, without creating a view. */
  idAt(slot: number): number {
    return this.numbers[slot * RECORD + ID]!;
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

  /** The slot of the address at `start` in `bytes`. The record has no id when the address is new to the commit. */
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

  setId(slot: number, id: number): void {
    this.numbers[slot * RECORD + ID] = id;
    const table = this.byId;
    let place = table.placeOf(hashOfNumbers(id, 0));
    while (table.slotAt(place) !== EMPTY) place = table.after(place);
    table.put(place, slot, this.hashOfIdAt);
  }

  /** The wallet with an id, undefined when the commit has not loaded it. */
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

  /** All slots, ordered by id. */
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
