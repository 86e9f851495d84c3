/** Addresses by id, read in bulk and kept in a fixed-size cache outside the JavaScript heap. */
import type { Statement } from '../store/open-database.ts';
import { ADDRESS_BYTES } from '../store/schema.ts';

interface AddressRow {
  id: number;
  address: Buffer;
}

/**
 * Ids are dense, so their low bits spread evenly: each id has the slot `id % size`, and a newer id evicts an older one.
 */
export class AddressCache {
  private readonly readAll: Statement<[string], AddressRow>;
  private readonly ids: Float64Array;
  readonly bytes: Uint8Array;
  /** Addresses of one lookup whose slots another id of that lookup took. */
  private readonly displaced = new Map<number, Buffer>();
  private readonly mask: number;

  /** `readAll` returns id and address for a JSON list of ids. `slots` is a power of two. */
  constructor(readAll: Statement<[string], AddressRow>, slots: number) {
    this.readAll = readAll;
    this.mask = slots - 1;
    this.ids = new Float64Array(slots).fill(-1);
    this.bytes = new Uint8Array(slots * ADDRESS_BYTES);
  }

  /** Loads the missing ids. `at` and `addressOf` then know all of `ids` until the next call. */
  load(ids: Iterable<number>): void {
    this.displaced.clear();
    const missing: number[] = [];
    for (const id of ids) if (this.ids[id & this.mask] !== id) missing.push(id);
    if (missing.length === 0) return;
    missing.sort((a, b) => a - b); // in file order
    const wanted = new Set(ids);
    for (const { id, address } of this.readAll.iterate(JSON.stringify(missing))) {
      const slot = id & this.mask;
      const holder = this.ids[slot]!;
      if (holder >= 0 && wanted.has(holder)) {
        this.displaced.set(id, address);
        continue;
      }
      this.ids[slot] = id;
      this.bytes.set(address, slot * ADDRESS_BYTES);
    }
  }

  /** The address of a loaded id. */
  addressOf(id: number): Uint8Array {
    const slot = id & this.mask;
    if (this.ids[slot] === id) return this.bytes.subarray(slot * ADDRESS_BYTES, (slot + 1) * ADDRESS_BYTES);
    const address = this.displaced.get(id);
    if (address === undefined) throw new Error(`the address of id ${id} is missing in the index`);
    return address;
  }

  /** Clears the cache. After a rollback an id may belong to another address. */
  clear(): void {
    this.ids.fill(-1);
    this.displaced.clear();
  }
}
