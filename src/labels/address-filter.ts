/**
 * A bitmap of the addresses that have a label, by their last four bytes: one bit tests false for all but some 6 % of
 * the others, in 100 ns instead of the microseconds of a lookup.
 */

/** Bits per label at least. */
const BITS_PER_LABEL = 16;
const MIN_BITS = 2 ** 13;
/** 64 MiB: more than 30 million labels share bits. */
const MAX_BITS = 2 ** 29;

export class AddressFilter {
  readonly bits: Uint8Array;
  private readonly mask: number;

  /** `bits` has a length that is a power of two. */
  constructor(bits: Uint8Array) {
    this.bits = bits;
    this.mask = bits.length * 8 - 1;
  }

  /** An empty filter for so many addresses. */
  static forCount(count: number): AddressFilter {
    let size = MIN_BITS;
    while (size < count * BITS_PER_LABEL && size < MAX_BITS) size *= 2;
    return new AddressFilter(new Uint8Array(size / 8));
  }

  /** Adds an address of 20 bytes. */
  add(address: Uint8Array): void {
    const end = address.length;
    const tail =
      (address[end - 4]! << 24) | (address[end - 3]! << 16) | (address[end - 2]! << 8) | address[end - 1]!;
    const bit = tail & this.mask;
    this.bits[bit >>> 3]! |= 1 << (bit & 7);
  }

  /** Whether an address, `0x` and 40 hex digits, may have been added. */
  mayHave(address: string): boolean {
    const bit = Number.parseInt(address.slice(34), 16) & this.mask;
    return (this.bits[bit >>> 3]! & (1 << (bit & 7))) !== 0;
  }
}
