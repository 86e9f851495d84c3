/**
 * A bitmap of the labelled addresses, by their last four bytes. One bit rules out all but some 6 % of the unlabelled
 * addresses, in 100 ns instead of the microseconds of a lookup.
 */

/** Fewest bits per label. */
const BITS_PER_LABEL = 16;
const MIN_BITS = 2 ** 13;
/** 64 MiB. More than 30 million labels share bits. */
const MAX_BITS = 2 ** 29;

export class AddressFilter {
  readonly bits: Uint8Array;
  private readonly mask: number;

  /** The length of `bits` must be a power of two. */
  constructor(bits: Uint8Array) {
    this.bits = bits;
    this.mask = bits.length * 8 - 1;
  }

  /** An empty filter, sized for `count` addresses. */
  static forCount(count: number): AddressFilter {
    let size = MIN_BITS;
    while (size < count * BITS_PER_LABEL && size < MAX_BITS) size *= 2;
    return new AddressFilter(new Uint8Array(size / 8));
  }

  /** Adds a 20-byte address. */
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
