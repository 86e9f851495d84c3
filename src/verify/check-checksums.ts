/** Recomputes the checksum of each block from its stored rows and compares it with the stored one. */
import { setImmediate } from 'node:timers/promises';
import { bytesToHex } from '../lib/hex.ts';
import { chainOf, readLastBlock } from '../store/chain.ts';
import {
  BLOCK_COLUMNS,
  ChecksumReader,
  changedRows,
  endOfBlock,
  type StoredBlockRow,
  splitBlockRow,
} from '../store/checksum.ts';
import { type Db, inReadTransaction, type Statement } from '../store/open-database.ts';
import { isCorruption } from '../store/storage-error.ts';
import type { Check } from './report.ts';

const tables = ['chain_anchors', 'untraced_blocks', 'token_quality', 'token_metadata'] as const;

/** Most blocks and transfers per read: a fraction of a second, because checkpoints wait for it. */
const BLOCKS_PER_READ = 2_000;
const TRANSFERS_PER_READ = 100_000;

interface ChecksumOptions {
  from: number;
  to: number;
  signal: AbortSignal;
  onProgress(done: number): void;
}

/**
 * Calls `onChanged` with each block of `from..to` whose stored rows have a wrong checksum or cannot be read, in ascending
 * order. Returns how many blocks and transfers it read.
 */
export async function findChangedBlocks(
  db: Db,
  { from, to, signal, onProgress }: ChecksumOptions,
  onChanged: (block: number) => void,
): Promise<{ blocks: number; transfers: number }> {
  const comparer = new ChecksumComparer(db);
  const read = { blocks: 0, transfers: 0 };
  for (let at = from; at <= to && !signal.aborted; ) {
    at = inReadTransaction(db, () => {
      const end = Math.min(to, at + BLOCKS_PER_READ - 1);
      const limit = read.transfers + TRANSFERS_PER_READ;
      let block = at;
      for (; block <= end && read.transfers < limit; block++) {
        const { isChanged, transfers } = comparer.compare(block);
        if (isChanged) onChanged(block);
        read.transfers += transfers;
        read.blocks++;
      }
      return block;
    });
    onProgress((at - from) / (to - from + 1));
    await setImmediate();
  }
  return read;
}

class ChecksumComparer {
  private readonly reader: ChecksumReader;
  private readonly last: Statement<[], number | null>;
  private readonly row: Statement<[number], StoredBlockRow>;

  constructor(db: Db) {
    this.reader = new ChecksumReader(db, chainOf(db)?.chainId ?? 0);
    this.last = db.prepare<[], number | null>('SELECT max(number) FROM blocks').pluck();
    this.row = db
      .prepare<[number], StoredBlockRow>(`SELECT ${BLOCK_COLUMNS} FROM blocks WHERE number = ?`)
      .raw();
  }

  /** A missing block counts as changed, unless it was rolled back meanwhile: then later ones are missing too. */
  compare(number: number): { isChanged: boolean; transfers: number } {
    try {
      const row = this.row.get(number);
      if (row === undefined) return { isChanged: (this.last.get() ?? -1) > number, transfers: 0 };
      const before = endOfBlock(this.row.get(number - 1));
      const { block, checksum } = splitBlockRow(row);
      const isChanged = this.reader.of(block, before) !== checksum;
      return { isChanged, transfers: Math.max(0, endOfBlock(row).lastTransfer - before.lastTransfer) };
    } catch (error) {
      if (!isCorruption(error)) throw error;
      return { isChanged: true, transfers: 0 };
    }
  }
}

/** Compares the checksums of all blocks, or of the newest blocks with at most `transfers` transfers in total. */
export async function checkChecksums(
  db: Db,
  check: Check,
  options: {
    transfers: number;
    signal: AbortSignal;
    onProgress(done: number): void;
    onChangedBlock?(block: number): void;
  },
): Promise<void> {
  const tip = readLastBlock(db);
  const start = chainOf(db)?.startBlock;
  if (tip === null || start === undefined) return;
  const from = tip.lastTransfer <= options.transfers ? start : firstOfNewest(db, tip, options.transfers);
  const read = await findChangedBlocks(db, { ...options, from, to: tip.number }, (block) => {
    check.addDifference(`the stored rows of block ${block} do not match its checksum`, block);
    options.onChangedBlock?.(block);
  });
  for (const table of tables) checkRows(db, check, table);
  check.share = tip.lastTransfer === 0 ? 1 : Math.min(1, read.transfers / tip.lastTransfer);
  check.compared = `${read.blocks.toLocaleString('en-US')} blocks with ${read.transfers.toLocaleString('en-US')} transfers`;
}

function checkRows(db: Db, check: Check, table: (typeof tables)[number]): void {
  for (const key of inReadTransaction(db, () => changedRows(db, table)))
    check.addDifference(
      `row ${key instanceof Uint8Array ? bytesToHex(key) : key} of ${table} does not match its checksum`,
    );
}

function firstOfNewest(db: Db, tip: { number: number; lastTransfer: number }, transfers: number): number {
  const first = db
    .prepare<[number], number>(
      'SELECT number FROM blocks WHERE last_transfer >= ? ORDER BY last_transfer, number LIMIT 1',
    )
    .pluck();
  return (first.get(tip.lastTransfer - transfers) ?? tip.number - 1) + 1;
}
