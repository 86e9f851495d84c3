/**
 * A checksum over everything stored for a block that other rows cannot reproduce: its own columns, its transfers, the
 * addresses of wallets that first appear in it, and the contracts of tokens that first move in it. All other tables
 * follow from these rows. The checksum is stored with the block, so a rollback removes it too.
 *
 * Every step is a bijection of the 32-bit state for a given input and of the input for a given state, so one changed
 * value always changes the result; several changed values go unnoticed with a probability of 2^-32. It takes about
 * 50 ns per transfer. A hash over bytes would first serialise each row, which takes longer than writing it.
 */
import { type BlockEnd, EMPTY_INDEX } from './chain.ts';
import type { Db, Statement } from './open-database.ts';
import { ADDRESS_BYTES } from './schema.ts';

const MULTIPLIER = 0x9e3779b1;
const TWO_32 = 2 ** 32;

/** Marks a null. No stored value collides with it: `mixInteger` and `mixBytes` also mix in the form of a value. */
const NULL_MARK = 0x6e756c6c;

/** The initial state of a block's checksum. */
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

/** Mixes in bytes and their number. */
export function mixBytes(sum: number, bytes: Uint8Array, start: number, end: number): number {
  let mixed = mix(sum, end - start);
  let at = start;
  for (; at + 4 <= end; at += 4)
    mixed = mix(mixed, bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
  for (; at < end; at++) mixed = mix(mixed, bytes[at]!);
  return mixed;
}

/**
 * Mixes in the token (0 for native) and the kind of a transfer, as ChecksumReader reads them. Does not depend on how
 * the row packs the two, so that the checksum of a block outlives a change of that.
 */
export function mixTokenAndKind(sum: number, token: number, kind: number): number {
  return mixInteger(sum, token * 8 + kind);
}

export function mixNull(sum: number): number {
  return mix(sum, NULL_MARK);
}

/** A row of `blocks` without its checksum, in the driver's raw mode. */
type CheckedBlock = [
  number: number,
  hash: Uint8Array,
  timestamp: number,
  lastTransfer: number,
  lastWallet: number,
  transactions: number,
];

export type StoredBlockRow = [...block: CheckedBlock, checksum: number];

/** The columns of a StoredBlockRow. */
export const BLOCK_COLUMNS = 'number, hash, timestamp, last_transfer, last_wallet, transactions, checksum';

export function splitBlockRow(row: StoredBlockRow): { block: CheckedBlock; checksum: number } {
  const [number, hash, timestamp, lastTransfer, lastWallet, transactions, checksum] = row;
  return { block: [number, hash, timestamp, lastTransfer, lastWallet, transactions], checksum };
}

/** The end of the index at a block; undefined means before the first block. */
export function endOfBlock(row: StoredBlockRow | undefined): BlockEnd {
  if (row === undefined) return EMPTY_INDEX;
  const [, , , lastTransfer, lastWallet, transactions] = row;
  return { lastTransfer, lastWallet, transactions };
}

export function mixBlock(
  sum: number,
  ...[number, hash, timestamp, transfer, wallet, transactions]: CheckedBlock
): number {
  let mixed = mixInteger(sum, number);
  mixed = mixBytes(mixed, hash, 0, hash.length);
  mixed = mixInteger(mixed, timestamp);
  mixed = mixInteger(mixed, transfer);
  mixed = mixInteger(mixed, wallet);
  return mixInteger(mixed, transactions);
}

/** A row of `transfers`; the last value is the wallet of the token if this is the token's first transfer. */
type ChecksummedRow = [id: unknown, tx: unknown, ...values: unknown[]];

/** Recomputes checksums from the stored rows. */
export class ChecksumReader {
  private readonly transfers: Statement<[number, number], ChecksummedRow>;
  private readonly addresses: Statement<[number, number], [id: number, address: unknown]>;
  private readonly seed: number;

  constructor(db: Db, chainId: number) {
    this.seed = seedOf(chainId);
    this.transfers = db
      .prepare<[number, number], ChecksummedRow>(/* sql */ `
        SELECT t.id, t.tx, t.sender, t.receiver, ifnull(t.token, 0) * 8 + t.kind, t.amount,
          t.token_number, t.log_index, k.wallet
        FROM transfers t LEFT JOIN tokens k ON k.id = t.token AND k.first_transfer = t.id
        WHERE t.id BETWEEN ? AND ? ORDER BY t.id`)
      .raw();
    this.addresses = db
      .prepare<[number, number], [id: number, address: unknown]>(
        'SELECT id, address FROM wallets WHERE id BETWEEN ? AND ? ORDER BY id',
      )
      .raw();
  }

  /** Recomputes the checksum of a block; null when a row is missing or a value has a wrong type. */
  of(block: CheckedBlock, before: BlockEnd): number | null {
    const [, hash, ...numbers] = block;
    if (!(hash instanceof Uint8Array) || !numbers.every(Number.isSafeInteger)) return null;
    const [, lastTransfer, lastWallet, lastTransaction] = numbers;
    let sum: number | null = this.seed;
    let id = before.lastTransfer;
    let { transactions } = before;
    for (const row of this.transfers.iterate(id + 1, lastTransfer)) {
      if (row[0] !== ++id) return null;
      if (row[1] instanceof Uint8Array) transactions++;
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
    const isWhole = id === lastTransfer && wallet === lastWallet && transactions === lastTransaction;
    return isWhole ? mixBlock(sum, ...block) : null;
  }
}

/** Mixes in the values of a row after its id, in column order; null when a value has a type that is never stored. */
function mixStoredTransfer(sum: number, row: ChecksummedRow): number | null {
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

/** Tables that no other rows can reproduce have a checksum per row. Lists the columns it covers, in order. */
export const CHECKED_TABLES = {
  index_rules: ['one', 'version', 'monad', 'wrapped_native', 'native_contracts', 'unindexed_erc20'],
  chain_anchors: ['one', 'genesis', 'first_parent', 'finalized', 'reorg_from'],
  block_gaps: ['first', 'last', 'kind', 'reason'],
  skipped_logs: ['reason', 'contract', 'logs', 'last', 'tx'],
  rewrites: ['number', 'first', 'lowest', 'highest', 'token'],
  token_quality: ['token', 'quality', 'block', 'offsets'],
  token_metadata: ['address', 'name', 'symbol', 'decimals', 'view_kind', 'tries', 'retry_at'],
  wallet_code: ['wallet', 'contract', 'block'],
  derived: ['name', 'last_transfer'],
  trade_rules: ['generation', 'rules'],
} as const;

const SEED = 0x61746c73;
const encoder = new TextEncoder();

/** The checksum of a row. */
export function rowChecksum(...values: unknown[]): number {
  return values.reduce(mixValue, SEED);
}

function mixValue(sum: number, value: unknown): number {
  if (value instanceof Uint8Array) return mixBytes(sum, value, 0, value.length);
  if (typeof value !== 'string') return value === null ? mixNull(sum) : mixInteger(sum, Number(value));
  const bytes = encoder.encode(value);
  return mixBytes(mixNull(sum), bytes, 0, bytes.length);
}

/** The first column of each row whose checksum is wrong. */
export function changedRows(db: Db, table: keyof typeof CHECKED_TABLES): unknown[] {
  const columns = CHECKED_TABLES[table];
  const changed: unknown[] = [];
  const rows = db.prepare<[], unknown[]>(`SELECT ${columns.join()}, checksum FROM ${table}`).raw();
  for (const row of rows.iterate()) if (rowChecksum(...row.slice(0, -1)) !== row.at(-1)) changed.push(row[0]);
  return changed;
}
