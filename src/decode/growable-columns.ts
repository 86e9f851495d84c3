/** Arrays of numbers that grow by doubling: the columns of a batch while it is being built. */

export class GrowableBytes {
  bytes: Uint8Array;
  length = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `count` more bytes and returns the offset where they begin. */
  reserve(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.length, this.bytes.length * 2));
      larger.set(this.bytes);
      this.bytes = larger;
    }
    return at;
  }

  push(byte: number): void {
    const at = this.reserve(1); // may replace `bytes`
    this.bytes[at] = byte;
  }

  /** The bytes in a buffer of exactly their size. */
  toArray(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }
}

type NumberArray = Uint32Array | Int32Array | Float64Array;

export class GrowableNumbers<A extends NumberArray> {
  length = 0;
  private values: A;
  private readonly make: new (
    length: number,
  ) => A;

  constructor(make: new (length: number) => A, capacity: number) {
    this.make = make;
    this.values = new make(capacity);
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new this.make(this.values.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  /** The numbers in a buffer of exactly their size. */
  toArray(): A {
    const exact = new this.make(this.length);
    exact.set(this.values.subarray(0, this.length));
    return exact;
  }
}
