/** Finding the wallets of many addresses at once. */
import { addressPrefix } from './address-table.ts';
import type { ChangeSet, Tables } from './change-set.ts';
import { ADDRESS_BYTES, ADDRESS_PREFIX_BYTES } from './schema.ts';
import type { WalletState } from './wallet-state.ts';

/** Each distinct address of a commit, in the order of first appearance. */
export class AddressResolver {
  private readonly bytes: Buffer;
  private readonly positionByAddress = new Map<string, number>();

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
      let position = this.positionByAddress.get(key);
      if (position === undefined) {
        position = this.positionByAddress.size;
        this.positionByAddress.set(key, position);
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
  resolve(changes: ChangeSet, lastWallet: number): WalletState[] {
    const { tables, wallets: loaded } = changes;
    const count = this.positionByAddress.size;
    const prefixes = Float64Array.from({ length: count }, (_, i) =>
      this.bytes.readUIntBE(i * ADDRESS_BYTES, ADDRESS_PREFIX_BYTES),
    );
    const byPrefix = sortedPositions(prefixes);
    const ids = new Float64Array(count);
    for (const position of byPrefix) {
      ids[position] = tables.addresses.walletByKey(addressPrefix(this.at(position))) ?? UNKNOWN_ID;
    }
    const found = new Array<WalletState>(count);
    for (const position of sortedPositions(ids)) {
      const id = ids[position]!;
      if (id === UNKNOWN_ID) break;
      const wallet = this.loadMatching(tables, id, this.at(position));
      if (wallet !== undefined) found[position] = wallet;
    }
    for (let i = 0, last = lastWallet; i < count; i++) {
      const wallet = found[i] ?? tables.wallets.create(++last, this.at(i));
      found[i] = wallet;
      loaded.set(wallet.id, wallet);
    }
    for (const [rank, position] of byPrefix.entries()) {
      const { id, address } = found[position]!;
      if (id <= lastWallet) continue;
      const before = byPrefix[rank - 1];
      const isTaken =
        ids[position] !== UNKNOWN_ID || (before !== undefined && prefixes[before] === prefixes[position]);
      changes.newAddressRows.push({ key: isTaken ? address : addressPrefix(address), wallet: id });
    }
    return found;
  }

  /** The wallet of an address that shares its prefix with wallet `first`; undefined when there is none. */
  private loadMatching(
    { wallets, addresses }: Tables,
    first: number,
    address: Uint8Array,
  ): WalletState | undefined {
    const wallet = wallets.loadIfAddressMatches(first, address);
    if (wallet !== undefined) return wallet;
    const id = addresses.walletByKey(address);
    return id === undefined ? undefined : wallets.load(id);
  }

  private at(position: number): Uint8Array {
    return this.bytes.subarray(position * ADDRESS_BYTES, (position + 1) * ADDRESS_BYTES);
  }
}

/** An id that no wallet has; it sorts after all others. */
const UNKNOWN_ID = Number.MAX_SAFE_INTEGER;

/** The positions of the numbers in ascending order of the numbers; of equal ones, the lower position first. */
function sortedPositions(numbers: ArrayLike<number>): Uint32Array {
  return Uint32Array.from({ length: numbers.length }, (_, i) => i).sort(
    (a, b) => numbers[a]! - numbers[b]! || a - b,
  );
}
