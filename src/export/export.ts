/** Exports a table of the index to files: block tables by ranges of final blocks, the others as a snapshot. */

import { accessSync, constants, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../lib/async.ts';
import { FatalError } from '../lib/errors.ts';
import { fileErrorReason, makeFolder } from '../lib/files.ts';
import { currentMark, isRewritten, type Rewrites } from '../model/rewrites.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import { prepareGapBlocks } from '../store/block-gaps.ts';
import { chainOf, hashAt, readLastBlock } from '../store/chain.ts';
import { FileIdentity, withJobLock } from '../store/file-guard.ts';
import { FinalBlocks } from '../store/final-blocks.ts';
import type { Db } from '../store/open-database.ts';
import { prepareRewrites } from '../store/rewrites.ts';
import { BLOCKS, type BlockTable, TRANSFERS } from './block-tables.ts';
import { ExportFolder } from './export-folder.ts';
import { type Format, writeFile } from './files.ts';
import { type ExportedBlock, MANIFEST, type ManifestFile } from './manifest.ts';
import { type FileRange, idleReason, planRanges, type RangeChoice, requireRange } from './ranges.ts';
import { HOLDERS, type SnapshotTable, TOKENS, WALLETS } from './snapshot-tables.ts';
import { TRADES } from './trades-table.ts';

export const TABLES: Readonly<Record<TableName, BlockTable | SnapshotTable>> = {
  transfers: TRANSFERS,
  trades: TRADES,
  blocks: BLOCKS,
  tokens: TOKENS,
  wallets: WALLETS,
  holders: HOLDERS,
};

/** Exported by ranges of blocks. */
export type BlockTableName = 'transfers' | 'trades' | 'blocks';
export type TableName = BlockTableName | 'tokens' | 'wallets' | 'holders';

/** How often `follow` checks for newly final blocks. */
const FOLLOW_MS = 1_000;

export interface ExportOptions {
  table: TableName;
  format: Format;
  /** `index.max_reorg`. */
  maxReorg: number;
  /** Folder of all exports. Each table gets a subfolder. */
  out: string;
  /**
   * First and last block. Default: the index's first block, and the end of the last whole range. Files begin at fixed
   * borders, so the first file may begin before `from`.
   */
  from?: number;
  to?: number;
  blocksPerFile: number;
  /** Continue with each range of blocks once it is final. */
  follow: boolean;
  /** The lists of `[trades]`. */
  tradeLists: ConfiguredTradeLists;
}

interface ExportEvents {
  onProgress(rows: number, what: string): void;
  onFile(file: { path: string; rows: number; bytes: number }): void;
  /** Nothing is to be written now, and why. `finality`: what makes blocks final. */
  onIdle?(reason: string, finality: string): void;
}

/**
 * Writes the missing files and returns the total number of files. Throws ConfigError for blocks that are not final,
 * FatalError when stopped, while another export writes the folder, or when the folder belongs to another export or
 * chain. Written files stay, and the next export resumes from there.
 */
export async function exportTable(
  db: Db,
  options: ExportOptions,
  events: ExportEvents,
  signal: AbortSignal,
): Promise<number> {
  const path = join(options.out, options.table);
  const run = () => exportTo(path, db, options, events, signal);
  try {
    makeFolder(path);
    accessSync(path, constants.W_OK | constants.X_OK);
    const advice = 'wait for its end, or name another folder with --out';
    return await withJobLock(join(path, MANIFEST), advice, run, (error) => error);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new FatalError(`cannot write to ${path}: ${fileErrorReason(error)}`, { cause: error });
  }
}

async function exportTo(
  path: string,
  db: Db,
  options: ExportOptions,
  events: ExportEvents,
  signal: AbortSignal,
): Promise<number> {
  const chain = chainOf(db);
  const startHash = chain && hashAt(db, chain.startBlock);
  if (chain === null || startHash === null) throw EMPTY;
  const { format, table: name } = options;
  const table = TABLES[name];
  const blocksPerFile = table.kind === 'snapshot' ? null : options.blocksPerFile;
  const { columns } = table;
  const rules = (table.kind === 'blocks' && table.rules?.(db, options.tradeLists)) || null;
  const tradeRules = rules === null ? {} : { tradeRules: rules() };
  const header = { table: name, format, ...chain, startHash, blocksPerFile, ...tradeRules, columns };
  const rewrites = prepareRewrites(db);
  const final = new FinalBlocks(db, options.maxReorg);
  const opened = await ExportFolder.open(path, header);
  const gapBlocks = prepareGapBlocks(db);
  const target = { db, rewrites, rules, gapBlocks, final, folder: opened, events, signal };
  if (table.kind === 'snapshot') await exportSnapshot(table, target);
  else await exportRanges(table, options, { ...target, startBlock: chain.startBlock });
  return target.folder.fileCount;
}

const EMPTY = new FatalError('the index is empty: start the daemon first');

/** The destination of the files. */
interface Target {
  db: Db;
  rewrites: () => Rewrites;
  /** Of a table that depends on lists of contracts, those of the index now. */
  rules: (() => string) | null;
  gapBlocks: (first: number, last: number) => number;
  final: FinalBlocks;
  folder: ExportFolder;
  events: ExportEvents;
  signal: AbortSignal;
}

async function exportRanges(
  table: BlockTable,
  { from, to, blocksPerFile, follow, tradeLists }: ExportOptions,
  { startBlock, ...target }: Target & { startBlock: number },
): Promise<void> {
  const { db, folder, signal, events } = target;
  const identity = new FileIdentity(db.name);
  let read = table.read(db, tradeLists);
  requireRange({ startBlock, head: readLastBlock(db)?.number ?? startBlock, from, to });
  let mark = currentMark(target.rewrites());
  for (let isFirst = true; ; isFirst = false) {
    identity.check(); // a repair may have replaced the file, and this connection would never see the new one
    const rewrites = target.rewrites();
    requireSameLists(target);
    if (currentMark(rewrites) !== mark) read = table.read(db, tradeLists); // ids belong to other addresses now
    mark = currentMark(rewrites);
    const request: RangeChoice = {
      startBlock,
      final: finalBlock(target.final),
      head: readLastBlock(db)?.number ?? startBlock,
      blocksPerFile,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    };
    const ranges = planRanges(request);
    const stale = folder.stale(rewrites, target.gapBlocks);
    const missing = rangesToWrite(ranges, stale, folder, request.final);
    if (isFirst || missing.length > 0) requireSameChain(db, folder, stale);
    for (const range of missing) await exportRange(target, table, range, read(range));
    if (isFirst && missing.length === 0) events.onIdle?.(idleReason(request, ranges), target.final.explain());
    const left = folder.stale(rewrites, target.gapBlocks);
    if (!follow && left.length > 0) throw notFinalAgain(folder.path, left);
    if (!follow || to !== undefined || signal.aborted) return;
    await pause(FOLLOW_MS, signal);
    if (signal.aborted) return;
  }
}

/** The ranges that are not written yet, and those of stale files, in block order. */
function rangesToWrite(
  wanted: readonly FileRange[],
  stale: readonly ManifestFile[],
  folder: ExportFolder,
  final: number,
): FileRange[] {
  const old = new Set(stale.map(({ first }) => first));
  const missing = wanted.filter(({ first, last }) => old.has(first) || !folder.covers(first, last));
  const firsts = new Set(missing.map(({ first }) => first));
  const again = stale.filter(({ first, last }) => !firsts.has(first) && last <= final);
  return [...missing, ...again].sort((a, b) => a.first - b.first);
}

function notFinalAgain(path: string, stale: readonly ManifestFile[]): FatalError {
  const [first, last] = [stale[0]?.first, stale.at(-1)?.last];
  return new FatalError(
    `the index was repaired, and blocks ${first} to ${last} of the files in ${path} are not final in it again: ` +
      'start the daemon, and export again once they are',
  );
}

async function exportRange(
  target: Target,
  table: BlockTable,
  { first, last, open }: FileRange,
  batches: Parameters<typeof writeFile>[3],
): Promise<void> {
  const { table: name, format } = target.folder.manifest;
  const number = (block: number) => String(block).padStart(10, '0');
  const hash = requireHash(target.db, last);
  await exportFile(target, table, batches, {
    name: `${name}-${number(first)}-${open ? 'open' : number(last)}.${format}`,
    first,
    last,
    lastHash: hash,
    final: { number: last, hash },
    open,
    mark: currentMark(target.rewrites()),
    ...(table.dependsOnGaps && { gapBlocks: target.gapBlocks(first, last) }),
  });
}

/** All rows as of the last indexed block, from one transaction. Checkpoints wait until it ends. */
async function exportSnapshot(table: SnapshotTable, target: Target): Promise<void> {
  const { db, folder } = target;
  const { table: name, format } = folder.manifest;
  db.exec('BEGIN');
  try {
    const tip = readLastBlock(db);
    if (tip === null) throw EMPTY;
    requireSameChain(db, folder);
    await exportFile(target, table, table.read(db), {
      name: `${name}.${format}`,
      first: tip.number,
      last: tip.number,
      lastHash: tip.hash,
      final: lastFinal(target.final) ?? {
        number: folder.manifest.startBlock,
        hash: folder.manifest.startHash,
      },
      open: false,
      mark: currentMark(target.rewrites()),
    });
  } finally {
    db.exec('COMMIT');
  }
}

async function exportFile(
  target: Target,
  table: BlockTable | SnapshotTable,
  batches: Parameters<typeof writeFile>[3],
  facts: Omit<ManifestFile, 'rows' | 'bytes' | 'sha256' | 'mark'> & { mark: string },
): Promise<void> {
  const { db, rewrites, gapBlocks, folder, events, signal } = target;
  const { name, first, last, lastHash, mark } = facts;
  const partial = folder.partialPath(name);
  const written = await writeFile(partial, folder.manifest.format, table.columns, batches, (rows) => {
    if (signal.aborted)
      throw new FatalError('stopped; complete files are kept, and the next export continues after them');
    events.onProgress(rows, name);
  });
  const isOther = facts.gapBlocks !== undefined && facts.gapBlocks !== gapBlocks(first, last);
  if (requireHash(db, last) !== lastHash || isRewritten(rewrites(), last, mark) || isOther) {
    rmSync(partial);
    throw new FatalError(`block ${last} was replaced during its export; run the export again`);
  }
  requireSameLists(target, partial);
  folder.publish({ ...facts, ...written });
  events.onFile({ path: join(folder.path, name), rows: written.rows, bytes: written.bytes });
}

/** Throws FatalError, without the unfinished file, when the lists of contracts are no longer those of the folder. */
function requireSameLists({ rules, folder }: Target, unfinished?: string): void {
  if (rules === null || rules() === folder.manifest.tradeRules) return;
  if (unfinished !== undefined) rmSync(unfinished);
  throw new FatalError(
    `the lists by which the index tells trades have changed; the files in ${folder.path} are told by the ` +
      'earlier ones: ' +
      'remove that folder and export it again, or name another one with --out',
  );
}

function finalBlock(final: FinalBlocks): number {
  const block = final.last();
  if (block !== null) return block.number;
  throw new FatalError(
    `no indexed block is final yet: ${final.explain()}; export again then ("atlas-node status" shows the ` +
      'last final block)',
  );
}

function lastFinal(final: FinalBlocks): ExportedBlock | null {
  const block = final.last();
  return block && { number: block.number, hash: block.hash };
}

function requireHash(db: Db, block: number): string {
  const hash = hashAt(db, block);
  if (hash === null)
    throw new FatalError(`block ${block} left the index during its export; run the export again`);
  return hash;
}

/**
 * Throws FatalError unless the index has every known block of the exported chain: another chain may have the same id
 * and first block, and a rebuilt index may hold other blocks. Files to be written again prove nothing.
 */
function requireSameChain(
  db: Db,
  { path, manifest }: ExportFolder,
  stale: readonly ManifestFile[] = [],
): void {
  const { startBlock, startHash, files } = manifest;
  const fresh = files.filter((file) => !stale.includes(file));
  const known = [{ number: startBlock, hash: startHash }, ...fresh.map(({ final }) => final)];
  for (const { number, hash } of known) {
    const indexed = hashAt(db, number);
    if (indexed === hash) continue;
    throw new FatalError(
      indexed === null
        ? `the files in ${path} include block ${number}, which the index does not have yet: ` +
            'export again once it has, or name another folder with --out'
        : `block ${number} is ${indexed} in the index and ${hash} in ${join(path, MANIFEST)}: the files are of ` +
            'another chain or of blocks since replaced; name another folder with --out, or remove that one first',
    );
  }
}
