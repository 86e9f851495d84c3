/**
 * Building an index again from what is whole in a damaged one. Blocks with the right checksum are taken from the file,
 * the others from the node; counters, holdings and lists are computed as if the blocks had just arrived. The damaged
 * file stays in place until the new one is complete, so a kill at any moment loses nothing.
 */
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { FatalError } from '../lib/errors.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import { fsyncDirectory } from '../store/backup.ts';
import { chainOf, hashAt } from '../store/chain.ts';
import {
  BLOCK_COLUMNS,
  CHECKED_TABLES,
  ChecksumReader,
  endOfBlock,
  rowChecksum,
  type StoredBlockRow,
  splitBlockRow,
} from '../store/checksum.ts';
import { LOCK_SUFFIX } from '../store/file-guard.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { IndexWriter } from '../store/index-writer.ts';
import { type Db, highest, openDatabase } from '../store/open-database.ts';
import { isCorruption } from '../store/storage-error.ts';
import { traceGapRanges } from '../store/trace-gaps.ts';
import { StoredBlocks } from './stored-blocks.ts';

export interface RebuildOptions {
  /** The damaged index; the caller holds the right to write it. */
  path: string;
  /** The last block to be taken over. */
  last: number;
  /** Blocks whose stored rows are not to be believed. */
  changed: ReadonlySet<number>;
  cacheMb: number;
  batchTransfers: number;
  signal: AbortSignal;
  /** Reads one block from the node. */
  load(block: number): Promise<BlockBatch>;
  onProgress(text: string): void;
}

/**
 * Replaces the index by a rebuilt one, which may end before `last`: where the node's block is not what was once stored,
 * the blocks behind it were numbered by other rows and cannot be taken over.
 */
export async function rebuildIndex(options: RebuildOptions): Promise<void> {
  const path = realpathSync(options.path);
  const target = `${path}.rebuild`;
  removeIndex(target);
  const writer = new IndexWriter(target, { cacheMb: options.cacheMb });
  try {
    await copyBlocks(path, target, writer, options);
  } finally {
    writer.close();
  }
  copyTokenFacts(path, target);
  options.signal.throwIfAborted();
  publish(path, target);
}

/** What a killed rebuild left behind. */
function removeIndex(path: string): void {
  for (const suffix of ['', '-wal', '-shm', LOCK_SUFFIX]) rmSync(`${path}${suffix}`, { force: true });
}

async function copyBlocks(
  path: string,
  target: string,
  writer: IndexWriter,
  { last, changed, batchTransfers, signal, load, onProgress }: RebuildOptions,
): Promise<void> {
  const source = openIndexForReading(path);
  const rebuilt = openIndexForReading(target);
  try {
    const chain = chainOf(source);
    const first = source.prepare<[], number | null>('SELECT min(number) FROM blocks').pluck().get();
    if (chain === null || typeof first !== 'number') throw new FatalError(`${path} holds no block`);
    const start = Math.min(chain.startBlock, first);
    writer.setChain(chain.chainId, start);
    const blocks = new StoredBlocks(source, rebuilt);
    const ends = batchEnds(source, changed, last);
    for (let at = start; at <= last; ) {
      signal.throwIfAborted();
      if (changed.has(at)) {
        const batch = await load(at);
        if (!isChildOf(rebuilt, batch)) return;
        writer.append([batch]);
        if (!equalsStored(source, rebuilt, at, chain.chainId)) return;
        at++;
      } else {
        const { end, traced } = ends(at);
        const batch = blocks.read(at, end, batchTransfers, traced);
        writer.append([batch]);
        at += batch.blockCount;
      }
      onProgress(`rebuilding: block ${at - 1} of ${last}`);
      await setImmediate();
    }
  } finally {
    source.close();
    rebuilt.close();
  }
}

/** Where a batch that begins at a block must end, at the latest: before a changed block, and all traced or none. */
function batchEnds(
  source: Db,
  changed: ReadonlySet<number>,
  last: number,
): (from: number) => { end: number; traced: boolean } {
  const stops = [...changed].sort((a, b) => a - b);
  const untraced = traceGapRanges(source);
  return (from) => {
    const inside = untraced.find((range) => range.first <= from && from <= range.last);
    const next = untraced.find((range) => range.first > from);
    const stop = stops.find((block) => block > from) ?? last + 1;
    const end = Math.min(last, stop - 1, inside?.last ?? (next?.first ?? last + 1) - 1);
    return { end, traced: inside === undefined };
  };
}

function isChildOf(rebuilt: Db, batch: BlockBatch): boolean {
  const parent = hashAt(rebuilt, batch.number[0]! - 1);
  return parent === null || parent === `0x${Buffer.from(batch.parent.subarray(0, 32)).toString('hex')}`;
}

/**
 * Whether a block from the node is what the damaged file once held: it has the checksum that is stored for it, or, where
 * that is what changed, the rows in the file have the right one. Then all ids behind it are still right.
 */
function equalsStored(source: Db, rebuilt: Db, number: number, chainId: number): boolean {
  const rowOf = (db: Db, block: number) =>
    db
      .prepare<[number], StoredBlockRow>(`SELECT ${BLOCK_COLUMNS} FROM blocks WHERE number = ?`)
      .raw()
      .get(block);
  const right = rowOf(rebuilt, number);
  if (right === undefined) return false;
  const { block, checksum } = splitBlockRow(right);
  const before = endOfBlock(rowOf(rebuilt, number - 1));
  try {
    const stored = rowOf(source, number);
    if (stored !== undefined && splitBlockRow(stored).checksum === checksum) return true;
    return new ChecksumReader(source, chainId).of(block, before) === checksum;
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return false;
  }
}

/** Takes over what the node said about tokens, as far as it is whole: the daemon asks again for the rest. */
function copyTokenFacts(path: string, target: string): void {
  const source = openIndexForReading(path);
  const db = openDatabase(target);
  const [token, block] = [highest(db, 'tokens'), highest(db, 'blocks', 'number')];
  try {
    for (const [table, fits] of [
      ['token_metadata', () => true],
      ['token_quality', (row: unknown[]) => Number(row[0]) <= token && Number(row[2]) <= block],
    ] as const) {
      const columns = CHECKED_TABLES[table];
      const insert = db.prepare(
        `INSERT OR IGNORE INTO ${table} (${columns.join()}, checksum) VALUES (${columns.map(() => '?').join()}, ?)`,
      );
      db.transaction(() => {
        for (const row of wholeRows(source, table)) if (fits(row)) insert.run(...row);
      })();
    }
    db.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
    source.close();
  }
}

/** The rows of a table that have their checksum, with it, up to the first page that cannot be read. */
function* wholeRows(db: Db, table: keyof typeof CHECKED_TABLES): Generator<unknown[]> {
  const rows = db
    .prepare<[], unknown[]>(`SELECT ${CHECKED_TABLES[table].join()}, checksum FROM ${table}`)
    .raw();
  try {
    for (const row of rows.iterate()) if (rowChecksum(...row.slice(0, -1)) === row.at(-1)) yield row;
  } catch (error) {
    if (!isCorruption(error)) throw error;
  }
}

/** Gives the rebuilt file the name of the damaged one, whose write-ahead log must not be applied to it. */
function publish(path: string, target: string): void {
  const damaged = openDatabase(path);
  damaged.pragma('wal_checkpoint(TRUNCATE)');
  damaged.close();
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  const file = openSync(target, 'r');
  fsyncSync(file);
  closeSync(file);
  renameSync(target, path);
  fsyncDirectory(dirname(path));
  removeIndex(target);
}
