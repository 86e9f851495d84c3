/**
 * The rows of `wallets` in memory, as records in one buffer: up to 128 at a time in a commit, all of a step in a
 * rollback. A backfill commit reads and writes a million rows this way; an object for each would cost more garbage
 * collection than its write.
 */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import { ADDRESS_BYTES } from '../schema.ts';
import { PagePool } from './page-pool.ts';
import { EMPTY, hashOfNumbers, isOversized, SlotTable } from './slot-table.ts';
import { ADDRESS, ID, RECORD, WalletState } from './wallet-state.ts';
import { WideSums } from './wide-sums.ts';

const MIN_RECORDS = 256;

/** The wallets in memory, by id. */
export class WalletStates {
  /** The same records as numbers, words and bytes. Growing replaces the arrays. */
  numbers = new Float64Array(MIN_RECORDS * RECORD);
  bytes = new Uint8Array(this.numbers.buffer);
  readonly sums = new WideSums();
  readonly pages = new PagePool();
  /** Records in use. */
  count = 0;
  private readonly byId = new SlotTable();

  constructor() {
    this.sums.words = new Uint32Array(this.numbers.buffer);
  }

  /** Drops all wallets. */
  reset(): void {
    if (isOversized(this.numbers.length / RECORD, this.count)) this.resize(MIN_RECORDS);
    this.numbers.fill(0, 0, Math.min(this.count * RECORD, this.numbers.length));
    this.count = 0;
    this.sums.reset();
    this.pages.reset();
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

  addressOffset(slot: number): number {
    return (slot * RECORD + ADDRESS) * 8;
  }

  addressAt(slot: number): Uint8Array {
    const at = this.addressOffset(slot);
    return this.bytes.subarray(at, at + ADDRESS_BYTES);
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

  /** Adds a wallet of which only id and address are known. */
  add(id: number, address: Uint8Array): WalletState {
    const slot = this.count++;
    if (this.count * RECORD > this.numbers.length) this.resize(Math.ceil(slot * 1.5));
    this.numbers[slot * RECORD + ID] = id;
    this.bytes.set(address, this.addressOffset(slot));
    const table = this.byId;
    let place = table.placeOf(hashOfNumbers(id, 0));
    while (table.slotAt(place) !== EMPTY) place = table.after(place);
    table.put(place, slot, this.hashOfIdAt);
    return this.at(slot);
  }

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
