/**
 * Rebuilds a damaged index from its intact blocks. Copies blocks with a valid checksum from the file, reads the others
 * from the node, and computes counters, holdings and history pages as if the blocks had just arrived. The damaged file
 * stays in place until the new one is complete, so a kill at any moment loses nothing.
 */
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { FatalError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import type { StoredRules } from '../model/index-rules.ts';
import { type ConfiguredTradeLists, newTradeRules, type TradeRules } from '../model/trade-rules.ts';
import { fsyncDirectory } from '../store/backup.ts';
import { chainOf, hashAt } from '../store/chain.ts';
import { AnchorTable } from '../store/chain-anchors.ts';
import {
  BLOCK_COLUMNS,
  CHECKED_TABLES,
  ChecksumReader,
  changedRows,
  endOfBlock,
  rowChecksum,
  type StoredBlockRow,
  splitBlockRow,
} from '../store/checksum.ts';
import { LOCK_SUFFIX } from '../store/file-guard.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { readRules } from '../store/index-rules.ts';
import { IndexWriter } from '../store/index-writer.ts';
import { type Db, highest, openDatabase } from '../store/open-database.ts';
import { RewriteTable } from '../store/rewrites.ts';
import { isCorruption } from '../store/storage-error.ts';
import { prepareTradeGenerations } from '../store/trades/trade-generations.ts';
import { batchHash, batchParent } from './block-comparer.ts';
import { StoredBlocks } from './stored-blocks.ts';

interface RebuildOptions {
  /** The damaged index. The caller holds its writer lock. */
  path: string;
  /** The last block to copy. */
  last: number;
  /** Blocks whose stored rows are wrong. */
  changed: ReadonlySet<number>;
  cacheMb: number;
  batchTransfers: number;
  /** Replaces lists of trades that are damaged. */
  configuredTrades: ConfiguredTradeLists;
  signal: AbortSignal;
  /** Reads one block from the node. */
  load(block: number): Promise<BlockBatch>;
  /**
   * Whether this block of the damaged index and all blocks above may be dropped. `hash`: the hash of the node's block,
   * null if it does not connect to the index.
   */
  isReplaceable(source: Db, block: number, hash: Hex | null): Promise<boolean>;
  onProgress(text: string): void;
}

/**
 * Replaces the index with a rebuilt one, which may end before `last`: if the node's block is not the one stored before,
 * later blocks refer to other ids and cannot be copied.
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
  copyAnchors(path, target);
  copyRewrites(path, target, options);
  copyFacts(path, target);
  options.signal.throwIfAborted();
  publish(path, target);
}

/** Deletes what a killed rebuild left behind. */
function removeIndex(path: string): void {
  for (const suffix of ['', '-wal', '-shm', LOCK_SUFFIX]) rmSync(`${path}${suffix}`, { force: true });
}

async function copyBlocks(
  path: string,
  target: string,
  writer: IndexWriter,
  {
    last,
    changed,
    batchTransfers,
    configuredTrades,
    signal,
    load,
    isReplaceable,
    onProgress,
  }: RebuildOptions,
): Promise<void> {
  const source = openIndexForReading(path);
  const rebuilt = openIndexForReading(target);
  try {
    const chain = chainOf(source);
    const first = source.prepare<[], number | null>('SELECT min(number) FROM blocks').pluck().get();
    const rules = readRules(source);
    if (chain === null || rules === null || typeof first !== 'number')
      throw new FatalError(`${path} holds no block`);
    const start = Math.min(chain.startBlock, first);
    const { firstParent } = new AnchorTable(source).read();
    writer.setChain(chain.chainId, start, rules);
    const trades = tradeRulesOf(source, chain.chainId, rules, configuredTrades);
    if (trades !== null) writer.setTradeRules(trades);
    const blocks = new StoredBlocks(source, rebuilt);
    const ends = batchEnds(changed, last);
    for (let at = start; at <= last; ) {
      signal.throwIfAborted();
      if (changed.has(at)) {
        const batch = await load(at);
        const isChild = isChildOf(hashAt(rebuilt, at - 1) ?? firstParent, batch);
        if (isChild) writer.append([batch]);
        if (isChild && equalsStored(source, rebuilt, at, chain.chainId)) at++;
        else if (await isReplaceable(source, isChild ? at : at - 1, isChild ? batchHash(batch, 0) : null))
          return;
        else throw foreignBlock(at, batch);
      } else {
        const batch = blocks.read(at, ends(at), batchTransfers);
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

/** The newest lists of trades, null if there are none yet; if they are lost, those that a new index would get. */
function tradeRulesOf(
  source: Db,
  chainId: number,
  { wrappedNative }: StoredRules,
  configured: ConfiguredTradeLists,
): TradeRules | null {
  try {
    const { current, next } = prepareTradeGenerations(source)();
    return (next ?? current)?.rules ?? null;
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return newTradeRules({ chainId, wrappedNative: wrappedNative ?? [], configured });
  }
}

/** The last possible block of a batch that starts at a block: before a changed block. */
function batchEnds(changed: ReadonlySet<number>, last: number): (from: number) => number {
  const stops = [...changed].sort((a, b) => a - b);
  return (from) => Math.min(last, (stops.find((block) => block > from) ?? last + 1) - 1);
}

function isChildOf(parent: Hex | null, batch: BlockBatch): boolean {
  return parent === null || parent === batchParent(batch, 0);
}

function foreignBlock(number: number, batch: BlockBatch): FatalError {
  return new FatalError(
    `block ${number} is damaged, and the node's block ${number} (${batchHash(batch, 0)}, after ` +
      `${batchParent(batch, 0)}) is not the one that was indexed: nothing was removed; use a node of the indexed ` +
      `chain or, if this one is right, run "atlas-node verify --repair FROM..${number}" with FROM where its chain ` +
      'branches off',
  );
}

/**
 * Whether a block from the node equals the one stored before: it has the stored checksum or, if the checksum itself
 * changed, the rows in the file match its checksum. Then all later ids are still right.
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

/** Copies the chain identity, so that the rebuilt index is as safe from a wrong node as before. */
function copyAnchors(path: string, target: string): void {
  const source = openIndexForReading(path);
  const db = openDatabase(target);
  try {
    const anchors = new AnchorTable(source).read();
    const rebuilt = new AnchorTable(db);
    rebuilt.set({ ...anchors, firstParent: anchors.firstParent ?? rebuilt.read().firstParent });
    rebuilt.rollback(highest(db, 'blocks', 'number'));
  } catch (error) {
    if (!isCorruption(error)) throw error;
  } finally {
    db.close();
    source.close();
  }
}

/**
 * Copies the earlier rewrites and adds this one: from the lowest block on that was changed or has a fact that others
 * may have copied; if only other sums were wrong, of the last block. From the first block on if an earlier one is lost,
 * because it may have been of any block.
 */
function copyRewrites(path: string, target: string, { last, changed }: RebuildOptions): void {
  const source = openIndexForReading(path);
  const db = openDatabase(target);
  try {
    const isWhole = isUnchanged(source, 'rewrites');
    copyWholeRows(source, db, 'rewrites');
    const start = chainOf(db)?.startBlock ?? 0;
    const first = isWhole ? Math.min(last, ...changed, firstChangedFact(path, db) ?? last) : start;
    const rewrites = new RewriteTable(db);
    db.transaction(() => rewrites.record(first, last)).immediate();
  } finally {
    db.close();
    source.close();
  }
}

/** Facts about wallets and tokens that the sink copies. Each is the id of a transfer, and does not change later. */
const COPIED_FACTS = [
  ['wallets', 'first_transfer', 'first_transfer'],
  ['wallets', 'first_direct', 'first_direct'],
  ['wallets', 'first_internal', 'first_internal'],
  ['tokens', 'first_transfer', 'first_transfer'],
  ['tokens', 'kind', 'first_transfer'],
] as const;

/** The block of the earliest copied fact that the damaged file has otherwise; null if there is none. */
function firstChangedFact(path: string, rebuilt: Db): number | null {
  rebuilt.prepare('ATTACH ? AS damaged').run(path);
  try {
    const earliest = COPIED_FACTS.map(([table, column, at]) =>
      rebuilt
        .prepare<[], number | null>(/* sql */ `
          SELECT min(min(ifnull(was.${at}, now.${at}), ifnull(now.${at}, was.${at})))
          FROM main.${table} now LEFT JOIN damaged.${table} was ON was.id = now.id
          WHERE was.${column} IS NOT now.${column}`)
        .pluck()
        .get(),
    ).filter((id) => typeof id === 'number');
    return earliest.length === 0 ? null : blockWith(rebuilt, Math.min(...earliest));
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return chainOf(rebuilt)?.startBlock ?? null;
  } finally {
    rebuilt.exec('DETACH damaged');
  }
}

/** The block of a transfer, null if it is above the last one. */
function blockWith(db: Db, transfer: number): number | null {
  const block = db.prepare<[number], number | null>(
    'SELECT min(number) FROM blocks WHERE last_transfer >= ?',
  );
  return block.pluck().get(transfer) ?? null;
}

function isUnchanged(db: Db, table: keyof typeof CHECKED_TABLES): boolean {
  try {
    return changedRows(db, table).length === 0;
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return false;
  }
}

/**
 * Copies the intact rows that came from calls to contracts, which the daemon else reads from the node again, and the
 * counts of skipped logs, of which the rebuilt index has only those of the blocks that it read from the node.
 */
function copyFacts(path: string, target: string): void {
  const source = openIndexForReading(path);
  const db = openDatabase(target);
  const [token, wallet] = [highest(db, 'tokens'), highest(db, 'wallets')];
  const block = highest(db, 'blocks', 'number');
  try {
    db.exec('DELETE FROM skipped_logs');
    copyWholeRows(source, db, 'skipped_logs');
    copyWholeRows(source, db, 'token_metadata');
    copyWholeRows(source, db, 'token_quality', (row) => Number(row[0]) <= token && Number(row[2]) <= block);
    copyWholeRows(source, db, 'wallet_code', (row) => Number(row[0]) <= wallet && Number(row[2]) <= block);
    db.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
    source.close();
  }
}

function copyWholeRows(
  source: Db,
  target: Db,
  table: keyof typeof CHECKED_TABLES,
  fits: (row: unknown[]) => boolean = () => true,
): void {
  const columns = CHECKED_TABLES[table];
  const insert = target.prepare(
    `INSERT OR IGNORE INTO ${table} (${columns.join()}, checksum) VALUES (${columns.map(() => '?').join()}, ?)`,
  );
  target.transaction(() => {
    for (const row of wholeRows(source, table)) if (fits(row)) insert.run(...row);
  })();
}

/** The rows of a table with a valid checksum, up to the first unreadable page. */
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

/** Renames the rebuilt file over the damaged one, whose WAL must not be applied to it. */
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
