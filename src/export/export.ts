/** Exports a table of the index to files: block tables by ranges of final blocks, the others as a snapshot. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError, FatalError } from '../lib/errors.ts';
import { chainOf, readLastBlock } from '../store/chain.ts';
import { AnchorTable } from '../store/chain-anchors.ts';
import type { Db } from '../store/open-database.ts';
import type { BlockRange } from '../store/trace-gaps.ts';
import { BLOCKS, type BlockTable, TRANSFERS } from './block-tables.ts';
import { type Format, writeFile } from './files.ts';
import { type Manifest, openManifest, saveManifest } from './manifest.ts';
import { HOLDERS, type SnapshotTable, TOKENS, WALLETS } from './snapshot-tables.ts';

const TABLES: Readonly<Record<TableName, BlockTable | SnapshotTable>> = {
  transfers: TRANSFERS,
  blocks: BLOCKS,
  tokens: TOKENS,
  wallets: WALLETS,
  holders: HOLDERS,
};

export type TableName = 'transfers' | 'blocks' | 'tokens' | 'wallets' | 'holders';

/** How often `follow` checks for newly final blocks. */
const FOLLOW_MS = 1_000;

export interface ExportOptions {
  table: TableName;
  format: Format;
  /** Folder of all exports. Each table gets a subfolder. */
  out: string;
  /** First and last block. Default: the index's first block, and the end of the last whole range. */
  from?: number;
  to?: number;
  blocksPerFile: number;
  /** Continue with each range of blocks once it is final. */
  follow: boolean;
}

interface ExportEvents {
  onProgress(rows: number, what: string): void;
  onFile(file: { path: string; rows: number; bytes: number }): void;
}

/**
 * Writes the missing files and returns the total number of files. Throws ConfigError for blocks that are not final,
 * FatalError when stopped; written files stay, and the next export resumes from there.
 */
export async function exportTable(
  db: Db,
  options: ExportOptions,
  events: ExportEvents,
  signal: AbortSignal,
): Promise<number> {
  const chain = chainOf(db);
  if (chain === null) throw new FatalError('the index is empty: start the daemon first');
  const folder = join(options.out, options.table);
  const table = TABLES[options.table];
  mkdirSync(folder, { recursive: true });
  const { format } = options;
  const header = { table: options.table, format, ...chain, columns: table.columns };
  const target = { db, folder, manifest: openManifest(folder, header), events, signal };
  if (table.kind === 'snapshot') await exportSnapshot(table, target);
  else await exportRanges(table, options, target);
  return target.manifest.files.length;
}

/** The destination of the files. */
interface Target {
  db: Db;
  folder: string;
  manifest: Manifest;
  events: ExportEvents;
  signal: AbortSignal;
}

async function exportRanges(table: BlockTable, options: ExportOptions, target: Target): Promise<void> {
  const { manifest, db, signal } = target;
  const read = table.read(db);
  for (;;) {
    const final = finalBlock(db);
    if (options.to !== undefined && options.to > final)
      throw new ConfigError(
        `block ${options.to} is not final yet: the last final block of the index is ${final}`,
      );
    const ranges = planRanges({
      startBlock: manifest.startBlock,
      final,
      blocksPerFile: options.blocksPerFile,
      ...(options.from !== undefined && { from: options.from }),
      ...(options.to !== undefined && { to: options.to }),
    });
    const written = new Set(manifest.files.map(({ first, last }) => `${first}-${last}`));
    for (const range of ranges)
      if (!written.has(`${range.first}-${range.last}`)) await exportFile(target, table, range, read(range));
    if (!options.follow || signal.aborted) return;
    await sleep(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
}

/** The highest indexed block that the node has called finalized. */
function finalBlock(db: Db): number {
  const { finalized } = new AnchorTable(db).read();
  if (finalized === null)
    throw new FatalError('no indexed block is final yet: the node has not called any block finalized');
  return Math.min(finalized, readLastBlock(db)?.number ?? -1);
}

/** All rows as of the last indexed block, from one transaction. Checkpoints wait until it ends. */
async function exportSnapshot(table: SnapshotTable, target: Target): Promise<void> {
  const { db } = target;
  db.exec('BEGIN');
  try {
    const tip = readLastBlock(db);
    if (tip === null) throw new FatalError('the index is empty: start the daemon first');
    const range = { first: tip.number, last: tip.number };
    if (target.manifest.files.some(({ last }) => last === tip.number)) return;
    await exportFile(target, table, range, table.read(db));
  } finally {
    db.exec('COMMIT');
  }
}

async function exportFile(
  { folder, manifest, events, signal }: Target,
  table: BlockTable | SnapshotTable,
  { first, last }: BlockRange,
  batches: Parameters<typeof writeFile>[3],
): Promise<void> {
  const name = `${manifest.table}-${[first, last].map((block) => String(block).padStart(10, '0')).join('-')}.${manifest.format}`;
  const path = join(folder, name);
  const written = await writeFile(path, manifest.format, table.columns, batches, (rows) => {
    if (signal.aborted)
      throw new FatalError('stopped; complete files are kept, and the next export continues after them');
    events.onProgress(rows, name);
  });
  manifest.files = [...manifest.files, { name, first, last, ...written }].sort((a, b) => a.first - b.first);
  saveManifest(folder, manifest);
  events.onFile({ path, ...written });
}

interface RangePlan {
  /** First block of the index. */
  startBlock: number;
  /** Last block that is final. */
  final: number;
  /** Files start at multiples of this, so that the same blocks are in the same file on every machine. */
  blocksPerFile: number;
  from?: number;
  to?: number;
}

/**
 * The files in block order. Without `to`, leaves out the range that is not final yet, because an existing file never
 * changes. Throws ConfigError when `from` lies before the index or after `to`.
 */
function planRanges({ startBlock, final, blocksPerFile, from = startBlock, to }: RangePlan): BlockRange[] {
  if (from < startBlock)
    throw new ConfigError(`--from ${from} is before the index, which starts at ${startBlock}`);
  if (to !== undefined && from > to) throw new ConfigError(`--from ${from} is after --to ${to}`);
  const ranges: BlockRange[] = [];
  const end = to ?? final;
  for (let first = from; first <= end; ) {
    const boundary = (Math.floor(first / blocksPerFile) + 1) * blocksPerFile - 1;
    if (to === undefined && boundary > final) break;
    const last = Math.min(boundary, end);
    ranges.push({ first, last });
    first = last + 1;
  }
  return ranges;
}
