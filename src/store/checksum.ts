/**
 * A checksum of everything that is stored of a block and cannot be recomputed from other rows: its own columns, its
 * transfers, the addresses of the wallets that first appear in it, and the contracts of the tokens that first move in
 * it. All other tables follow from these rows. The checksum is stored with the block and goes with it in a rollback.
 *
 * Every step is a bijection of the 32-bit state for a given input and of the input for a given state, so one changed
 * value always changes the result; several changed values escape with a probability of 2^-32. It takes some 50 ns a
 * transfer; a hash of bytes would need each row serialised first, which takes longer than writing it.
 */
import type { Db, Statement } from './open-database.ts';
import { ADDRESS_BYTES } from './schema.ts';

const MULTIPLIER = 0x9e3779b1;
const TWO_32 = 2 ** 32;

/** Stands for a null, which no stored value equals after `mixInteger` or `mixBytes` has mixed in its form. */
const NULL_MARK = 0x6e756c6c;

/** The checksum with which a block's begins. */
export function seedOf(chainId: number): number {
  return mixInteger(0x61746c73, chainId);
}

function mix(sum: number, value: number): number {
  const mixed = Math.imul(sum ^ value, MULTIPLIER);
  return mixed ^ (mixed >>> 15);
}

export function mixInteger(sum: number, value: number): number {
  const low = mix(sum, value | 0);
  return value >= 0 && value < TWO_32 / 2 ? low : mix(low, Math.floor(value / TWO_32));
}

/** Mixes in a value of bytes and its length. */
export function mixBytes(sum: number, bytes: Uint8Array, start: number, end: number): number {
  let mixed = mix(sum, end - start);
  let at = start;
  for (; at + 4 <= end; at += 4)
    mixed = mix(mixed, bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
  for (; at < end; at++) mixed = mix(mixed, bytes[at]!);
  return mixed;
}

export function mixNull(sum: number): number {
  return mix(sum, NULL_MARK);
}

/** A row of `blocks` without its checksum, as the driver's raw mode gives it. */
export type BlockRow = [
  number: number,
  hash: Uint8Array,
  timestamp: number,
  lastTransfer: number,
  lastWallet: number,
];

export function mixBlock(sum: number, ...[number, hash, timestamp, transfer, wallet]: BlockRow): number {
  let mixed = mixInteger(sum, number);
  mixed = mixBytes(mixed, hash, 0, hash.length);
  mixed = mixInteger(mixed, timestamp);
  mixed = mixInteger(mixed, transfer);
  return mixInteger(mixed, wallet);
}

/** The column values of a row of `transfers` from `tx` on, and the wallet of a token that it is the first transfer of. */
type StoredRow = [id: unknown, tx: unknown, ...values: unknown[]];

/** Recomputes checksums from the stored rows. */
export class ChecksumReader {
  private readonly transfers: Statement<[number, number], StoredRow>;
  private readonly addresses: Statement<[number, number], [id: number, address: unknown]>;
  private readonly seed: number;

  constructor(db: Db, chainId: number) {
    this.seed = seedOf(chainId);
    this.transfers = db
      .prepare<[number, number], StoredRow>(/* sql */ `
        SELECT t.id, t.tx, t.sender, t.receiver, t.token_kind, t.amount, t.token_number, t.log_index, k.wallet
        FROM transfers t LEFT JOIN tokens k ON k.id = t.token AND k.first_transfer = t.id
        WHERE t.id BETWEEN ? AND ? ORDER BY t.id`)
      .raw();
    this.addresses = db
      .prepare<[number, number], [id: number, address: unknown]>(
        'SELECT id, address FROM wallets WHERE id BETWEEN ? AND ? ORDER BY id',
      )
      .raw();
  }

  /** The checksum that the stored rows of a block have; null when a row is missing or a value has another type. */
  of(block: BlockRow, before: { lastTransfer: number; lastWallet: number }): number | null {
    const [, hash, timestamp, lastTransfer, lastWallet] = block;
    if (!(hash instanceof Uint8Array) || ![timestamp, lastTransfer, lastWallet].every(Number.isSafeInteger))
      return null;
    let sum: number | null = this.seed;
    let id = before.lastTransfer;
    for (const row of this.transfers.iterate(id + 1, lastTransfer)) {
      if (row[0] !== ++id) return null;
      sum = mixStoredTransfer(sum, row);
      if (sum === null) return null;
    }
    let wallet = before.lastWallet;
    if (lastWallet > wallet)
      for (const [walletId, address] of this.addresses.iterate(wallet + 1, lastWallet)) {
        if (walletId !== ++wallet || !(address instanceof Uint8Array) || address.length !== ADDRESS_BYTES)
          return null;
        sum = mixBytes(sum, address, 0, ADDRESS_BYTES);
      }
    return id === lastTransfer && wallet === lastWallet ? mixBlock(sum, ...block) : null;
  }
}

/** Mixes in the values of a row behind its id in the order of the columns; null when one is of no stored type. */
function mixStoredTransfer(sum: number, row: StoredRow): number | null {
  let mixed = sum;
  const last = row.length - 1;
  for (let i = 1; i <= last; i++) {
    const value = row[i];
    if (value === null) {
      if (i < last) mixed = mixNull(mixed);
    } else if (value instanceof Uint8Array) mixed = mixBytes(mixed, value, 0, value.length);
    else if (Number.isSafeInteger(value)) mixed = mixInteger(mixed, Number(value));
    else return null;
  }
  return mixed;
}

/** Tables that follow from no other rows and so have a checksum per row: their columns before `checksum`, in order. */
export const CHECKED_TABLES = {
  untraced_blocks: ['first', 'last'],
  token_quality: ['token', 'quality', 'block', 'offsets'],
  token_metadata: ['address', 'name', 'symbol', 'decimals', 'tries', 'retry_at'],
} as const;

const SEED = 0x61746c73;
const encoder = new TextEncoder();

/** The checksum of the values of a row. */
export function rowChecksum(...values: unknown[]): number {
  return values.reduce(mixValue, SEED);
}

function mixValue(sum: number, value: unknown): number {
  if (value instanceof Uint8Array) return mixBytes(sum, value, 0, value.length);
  if (typeof value !== 'string') return value === null ? mixNull(sum) : mixInteger(sum, Number(value));
  const bytes = encoder.encode(value);
  return mixBytes(mixNull(sum), bytes, 0, bytes.length);
}

/** The first column of each row that does not have its checksum. */
export function changedRows(db: Db, table: keyof typeof CHECKED_TABLES): unknown[] {
  const columns = CHECKED_TABLES[table];
  const changed: unknown[] = [];
  const rows = db.prepare<[], unknown[]>(`SELECT ${columns.join()}, checksum FROM ${table}`).raw();
  for (const row of rows.iterate()) if (rowChecksum(...row.slice(0, -1)) !== row.at(-1)) changed.push(row[0]);
  return changed;
}
