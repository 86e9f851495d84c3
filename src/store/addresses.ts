/** Finding the wallets of many addresses at once. */
import { beginningOf } from './address-table.ts';
import type { Changes, Tables } from './changes.ts';
import { ADDRESS_BEGINNING, ADDRESS_BYTES } from './schema.ts';
import type { WalletState } from './wallet-state.ts';

/** Each distinct address of a commit, in the order of first appearance. */
export class Addresses {
  private readonly bytes: Buffer;
  private readonly indexOf = new Map<string, number>();

  /** Allocates room for `bytes` bytes of addresses. */
  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }

  /** The position of each address in `addresses`, where they are concatenated. */
  add(addresses: Uint8Array): Uint32Array {
    const text = Buffer.from(addresses.buffer, addresses.byteOffset, addresses.byteLength);
    const positions = new Uint32Array(addresses.length / ADDRESS_BYTES);
    for (let i = 0; i < positions.length; i++) {
      const at = i * ADDRESS_BYTES;
      const key = text.toString('latin1', at, at + ADDRESS_BYTES);
      let position = this.indexOf.get(key);
      if (position === undefined) {
        position = this.indexOf.size;
        this.indexOf.set(key, position);
        text.copy(this.bytes, position * ADDRESS_BYTES, at, at + ADDRESS_BYTES);
      }
      positions[i] = position;
    }
    return positions;
  }

  /**
   * The wallet of each address; unknown ones get the ids after `lastWallet`. All ids are looked up first, in address
   * order, then all rows, in id order: so each page of either table is fetched once. Looking up one address after
   * another would fetch two pages for each.
   */
  wallets(changes: Changes, lastWallet: number): WalletState[] {
    const { tables, wallets: loaded } = changes;
    const count = this.indexOf.size;
    const beginnings = Float64Array.from({ length: count }, (_, i) =>
      this.bytes.readUIntBE(i * ADDRESS_BYTES, ADDRESS_BEGINNING),
    );
    const byBeginning = inOrder(beginnings);
    const ids = new Float64Array(count);
    for (const position of byBeginning) {
      ids[position] = tables.addresses.walletAt(beginningOf(this.at(position))) ?? UNKNOWN;
    }
    const found = new Array<WalletState>(count);
    for (const position of inOrder(ids)) {
      const id = ids[position]!;
      if (id === UNKNOWN) break;
      const wallet = this.find(tables, id, this.at(position));
      if (wallet !== undefined) found[position] = wallet;
    }
    for (let i = 0, last = lastWallet; i < count; i++) {
      const wallet = found[i] ?? tables.wallets.create(++last, this.at(i));
      found[i] = wallet;
      loaded.set(wallet.id, wallet);
    }
    for (const [rank, position] of byBeginning.entries()) {
      const { id, address } = found[position]!;
      if (id <= lastWallet) continue;
      const before = byBeginning[rank - 1];
      const isTaken =
        ids[position] !== UNKNOWN || (before !== undefined && beginnings[before] === beginnings[position]);
      changes.newKeys.push({ key: isTaken ? address : beginningOf(address), wallet: id });
    }
    return found;
  }

  /** The wallet of an address that shares its beginning with wallet `first`; undefined when there is none. */
  private find({ wallets, addresses }: Tables, first: number, address: Uint8Array): WalletState | undefined {
    const wallet = wallets.loadIf(first, address);
    if (wallet !== undefined) return wallet;
    const id = addresses.walletAt(address);
    return id === undefined ? undefined : wallets.load(id);
  }

  private at(position: number): Uint8Array {
    return this.bytes.subarray(position * ADDRESS_BYTES, (position + 1) * ADDRESS_BYTES);
  }
}

/** An id that no wallet has; it sorts after all others. */
const UNKNOWN = Number.MAX_SAFE_INTEGER;

/** The positions of the numbers in ascending order of the numbers; of equal ones, the lower position first. */
function inOrder(numbers: ArrayLike<number>): Uint32Array {
  return Uint32Array.from({ length: numbers.length }, (_, i) => i).sort(
    (a, b) => numbers[a]! - numbers[b]! || a - b,
  );
}
