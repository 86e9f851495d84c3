/** SQLite's own check of the file: pages, row order, and indexes that match their rows. */
import { setImmediate } from 'node:timers/promises';
import { codeOf } from '../lib/errors.ts';
import { chainOf, readLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { type Check, isMark, ProgressFile, type ProgressMark } from './report.ts';

const MAX_FAULTS = 10;

/**
 * Up to this size one check covers the file, including pages of no table. In bytes: two seconds of CPU plus disk time.
 */
const WHOLE_BYTES = 2 * 2 ** 30;

interface StructureProgress extends ProgressMark {
  /** Tables without faults. */
  tables: readonly string[];
}

interface StructureOptions {
  signal: AbortSignal;
  onProgress(text: string): void;
  /** Whether to ignore the results of an earlier run. */
  checksAgain?: boolean;
  /** Only tests pass their own. */
  wholeBytes?: number;
}

/**
 * Checks a larger file table by table, because each check is one read for which checkpoints wait. A stopped run saves
 * the names of the finished tables beside the index, and the next run continues after them.
 */
export async function checkStructure(
  db: Db,
  check: Check,
  { wholeBytes = WHOLE_BYTES, ...options }: StructureOptions,
): Promise<void> {
  const pages = Number(db.pragma('page_count', { simple: true }));
  const bytes = pages * Number(db.pragma('page_size', { simple: true }));
  if (bytes > wholeBytes) await checkTables(db, check, options);
  else {
    options.onProgress('file: SQLite reads all of it');
    for (const fault of faultsOf(db, MAX_FAULTS)) check.addDifference(`SQLite finds ${fault}`);
  }
  if (options.signal.aborted) return;
  check.share = 1;
  check.compared = `${pages.toLocaleString('en-US')} pages read through`;
}

/** `subject`: a table, or for the whole file the maximum number of faults to report. */
function faultsOf(db: Db, subject: string | number): string[] {
  const text = typeof subject === 'number' ? `${subject}` : `"${subject}"`;
  const lines = db.prepare<[], string>(`PRAGMA integrity_check(${text})`).pluck().all();
  return lines.filter((line) => line !== 'ok');
}

async function checkTables(
  db: Db,
  check: Check,
  { signal, onProgress, checksAgain = false }: Omit<StructureOptions, 'wholeBytes'>,
): Promise<void> {
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .pluck()
    .all();
  const file = new ProgressFile(`${db.name}.verify-structure`, isStructureProgress);
  const done = new Set(checksAgain ? [] : file.load(db)?.tables);
  if (done.size > 0) check.addNote(`an earlier run, which was stopped, checked ${[...done].join(', ')}`);
  for (const [i, name] of names.entries()) {
    if (done.has(name)) continue;
    onProgress(`file: table ${name}, ${i + 1} of ${names.length}`);
    await setImmediate();
    if (signal.aborted) return;
    const faults = faultsOf(db, name);
    for (const fault of faults.slice(0, MAX_FAULTS)) check.addDifference(`SQLite finds ${fault}`);
    if (faults.length > 0) continue;
    done.add(name);
    saveTables(db, file, [...done]);
  }
  file.remove();
}

/** A read-only folder, such as that of a backup, costs only the resumption. */
function saveTables(db: Db, file: ProgressFile<StructureProgress>, tables: readonly string[]): void {
  const chain = chainOf(db);
  const tip = readLastBlock(db);
  if (chain === null || tip === null) return;
  try {
    file.save({ ...chain, block: tip.number, hash: tip.hash, tables });
  } catch (error) {
    if (!['EACCES', 'EROFS', 'EPERM'].includes(codeOf(error))) throw error;
  }
}

function isStructureProgress(value: unknown): value is StructureProgress {
  if (!isMark(value) || !('tables' in value)) return false;
  const { tables } = value;
  return Array.isArray(tables) && tables.every((table) => typeof table === 'string');
}
