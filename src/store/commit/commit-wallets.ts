/**
 * The wallets that a commit touches, as columns: a backfill commit touches a million, and an object for each would cost
 * more garbage collection than writing its row. A wallet is known by its slot, its position in order of first
 * appearance.
 */
import { ADDRESS_BYTES, ADDRESS_PREFIX_BYTES } from '../schema.ts';
import { EMPTY, hashOfBytes, isOversized, SlotTable } from './slot-table.ts';

const MIN_WALLETS = 256;

/** How a wallet is funded. A direct funding replaces an internal one and is never replaced. */
export const FundedBy = { nothing: 0, internal: 1, direct: 2 } as const;

/** Marks a wallet without an id. 0 is taken by the zero address. */
export const NO_ID = -1;

export class CommitWallets {
  /** Wallets in use. */
  count = 0;
  /** wallets.id of each wallet, NO_ID until it is resolved. */
  ids = new Float64Array(0);
  /** FundedBy of each wallet, after the transfers seen so far. */
  fundedBy = new Uint8Array(0);
  /** wallets.id of the funder; not read from the file for a wallet with a direct funding. */
  funders = new Float64Array(0);
  /** The transfer of the commit that funds the wallet, 0 for none. */
  fundings = new Float64Array(0);
  /** How many wallets each wallet funds in this commit. */
  funded = new Int32Array(0);
  /** By how many tokens the commit changes `wallets.tokens`. */
  tokens = new Int32Array(0);
  private bytes = new Uint8Array(MIN_WALLETS * ADDRESS_BYTES);
  private readonly byAddress = new SlotTable();

  /** Memory used, bytes. */
  get memoryBytes(): number {
    return this.columns.reduce(
      (sum, { byteLength }) => sum + byteLength,
      this.bytes.length + this.byAddress.bytes,
    );
  }

  /** Starts a new commit. */
  reset(): void {
    if (isOversized(this.bytes.length / ADDRESS_BYTES, this.count))
      this.bytes = new Uint8Array(MIN_WALLETS * ADDRESS_BYTES);
    this.count = 0;
    this.byAddress.clear();
  }

  /** The slot of the address at `start` in `bytes`; null if the commit has not seen it. */
  find(bytes: Uint8Array, start: number): number | null {
    const table = this.byAddress;
    let place = table.placeOf(hashOfBytes(bytes, start, start + ADDRESS_BYTES));
    for (let slot = table.slotAt(place); slot !== EMPTY; slot = table.slotAt(place)) {
      if (this.hasAddress(slot, bytes, start)) return slot;
      place = table.after(place);
    }
    return null;
  }

  /** The slot of the address at `start` in `bytes`, added if the commit has not seen it. */
  slotOf(bytes: Uint8Array, start: number): number {
    const table = this.byAddress;
    let place = table.placeOf(hashOfBytes(bytes, start, start + ADDRESS_BYTES));
    for (let slot = table.slotAt(place); slot !== EMPTY; slot = table.slotAt(place)) {
      if (this.hasAddress(slot, bytes, start)) return slot;
      place = table.after(place);
    }
    const added = this.add(bytes, start);
    table.put(place, added, this.hashAt);
    return added;
  }

  /** Makes the columns. Call it once all addresses are added. */
  allocateColumns(): void {
    this.ids = new Float64Array(this.count).fill(NO_ID);
    this.fundedBy = new Uint8Array(this.count);
    this.funders = new Float64Array(this.count);
    this.fundings = new Float64Array(this.count);
    this.funded = new Int32Array(this.count);
    this.tokens = new Int32Array(this.count);
  }

  /** Frees the columns. The garbage collector would keep those of several commits. */
  releaseColumns(): void {
    for (const { buffer } of this.columns) buffer.transfer(0);
  }

  /** 20 bytes, valid until an address is added. */
  addressAt(slot: number): Uint8Array {
    return this.bytes.subarray(slot * ADDRESS_BYTES, (slot + 1) * ADDRESS_BYTES);
  }

  /** The prefix of an address (addresses.ts) as a number. */
  prefixAt(slot: number): number {
    const at = slot * ADDRESS_BYTES;
    let prefix = 0;
    for (let i = at; i < at + ADDRESS_PREFIX_BYTES; i++) prefix = prefix * 256 + this.bytes[i]!;
    return prefix;
  }

  private get columns() {
    return [this.ids, this.fundedBy, this.funders, this.fundings, this.funded, this.tokens];
  }

  private add(bytes: Uint8Array, start: number): number {
    const slot = this.count++;
    const at = slot * ADDRESS_BYTES;
    if (at + ADDRESS_BYTES > this.bytes.length)
      this.bytes = new Uint8Array(this.bytes.buffer.transfer(Math.ceil(slot * 1.5) * ADDRESS_BYTES));
    for (let i = 0; i < ADDRESS_BYTES; i++) this.bytes[at + i] = bytes[start + i]!;
    return slot;
  }

  private hasAddress(slot: number, bytes: Uint8Array, start: number): boolean {
    const at = slot * ADDRESS_BYTES;
    for (let i = 0; i < ADDRESS_BYTES; i++) if (this.bytes[at + i] !== bytes[start + i]) return false;
    return true;
  }

  private readonly hashAt = (slot: number): number =>
    hashOfBytes(this.bytes, slot * ADDRESS_BYTES, (slot + 1) * ADDRESS_BYTES);
}
