/** Rows in the binary format of PostgreSQL's COPY, which costs a fraction of its text format on both sides. */
import { MAX_NUMERIC_BYTES, writeNumeric } from './numeric.ts';

/** What precedes the rows: the signature, no flags, no header extension. */
export const COPY_HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
/** What follows them. */
export const COPY_TRAILER = Buffer.from([0xff, 0xff]);

const MIN_CAPACITY = 1 << 16;
/** Unix seconds at which PostgreSQL's timestamps begin: 2000-01-01. */
const EPOCH_SECONDS = 946_684_800;

export class CopyRows {
  private bytes: Buffer;
  private length = 0;
  /** Rows since the last `take`. */
  rows = 0;

  constructor(capacity = MIN_CAPACITY) {
    this.bytes = Buffer.allocUnsafe(capacity);
  }

  /** Begins a row; its fields follow in the order of the columns. */
  row(fields: number): void {
    this.reserve(2);
    this.length = this.bytes.writeInt16BE(fields, this.length);
    this.rows++;
  }

  null(): void {
    this.size(-1, 0);
  }

  bool(value: boolean): void {
    this.size(1, 1);
    this.bytes[this.length++] = value ? 1 : 0;
  }

  int4(value: number): void {
    this.size(4, 4);
    this.length = this.bytes.writeInt32BE(value, this.length);
  }

  int8(value: number): void {
    this.size(8, 8);
    this.length = this.bytes.writeInt32BE(Math.floor(value / 2 ** 32), this.length);
    this.length = this.bytes.writeUInt32BE(value >>> 0, this.length);
  }

  /** `timestamptz` of Unix seconds. */
  time(seconds: number): void {
    this.int8((seconds - EPOCH_SECONDS) * 1_000_000);
  }

  bytea(value: Uint8Array): void {
    this.slice(value, 0, value.length);
  }

  /** `bytea` of a part of an array. */
  slice(source: Uint8Array, start: number, end: number): void {
    this.size(end - start, end - start);
    const { bytes } = this;
    let at = this.length;
    for (let i = start; i < end; i++) bytes[at++] = source[i]!; // faster than copy() for so few bytes
    this.length = at;
  }

  /** `text`, which cannot hold a NUL in PostgreSQL. */
  text(value: string): void {
    this.bytea(Buffer.from(value.replaceAll('\0', ''), 'utf8'));
  }

  /** `numeric` of a non-negative integer as big-endian bytes. */
  numeric(integer: Uint8Array): void {
    this.reserve(4 + MAX_NUMERIC_BYTES);
    const start = this.length + 4;
    const end = writeNumeric(integer, this.bytes, start);
    this.bytes.writeInt32BE(end - start, this.length);
    this.length = end;
  }

  /** The encoded rows so far, which are then forgotten. The result stays valid. */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.length);
    this.bytes = Buffer.allocUnsafe(Math.max(MIN_CAPACITY, this.length + (this.length >> 3)));
    this.length = 0;
    this.rows = 0;
    return taken;
  }

  private size(value: number, bytes: number): void {
    this.reserve(4 + bytes);
    this.length = this.bytes.writeInt32BE(value, this.length);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.length + more));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}
