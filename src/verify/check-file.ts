/**
 * Checks the file by itself: SQLite's own check of pages, row order, and indexes that match their rows; blocks without
 * gaps, and no rows of ids that are not assigned; the checksum of each block.
 */
import { setImmediate } from 'node:timers/promises';
import { codeOf } from '../lib/errors.ts';
import { bytesToHex } from '../lib/hex.ts';
import { GAP_KINDS } from '../model/block-gap.ts';
import { readGaps } from '../store/block-gaps.ts';
import { chainOf, readLastBlock } from '../store/chain.ts';
import {
  BLOCK_COLUMNS,
  ChecksumReader,
  changedRows,
  endOfBlock,
  type StoredBlockRow,
  splitBlockRow,
} from '../store/checksum.ts';
import { type Db, highest, inReadTransaction, type Statement } from '../store/open-database.ts';
import { partiesChecksum } from '../store/packed-parties.ts';
import { isCorruption } from '../store/storage-error.ts';
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

interface BlockEnds {
  number: number;
  timestamp: number;
  last_transfer: number;
  last_wallet: number;
  transactions: number;
}

/** Tables whose key starts with the id of a wallet or a token. */
const TABLES_BY_OWNER = [
  ['activity', 'wallet'],
  ['summed_histories', 'wallet'],
  ['counterparty_sums', 'wallet'],
  ['fundings', 'funder'],
  ['holdings', 'token'],
  ['token_activity', 'token'],
  ['token_mints', 'token'],
  ['holding_peaks', 'token'],
  ['first_buyers', 'token'],
  ['token_quality', 'token'],
  ['wallet_code', 'wallet'],
] as const;

/**
 * Checks that block numbers have no gap from the start block on, that ids never decrease, that the last ids match the
 * last rows, and that no table has rows of higher ids.
 */
export function checkContiguity(db: Db, check: Check): void {
  inReadTransaction(db, () => {
    const start = db.prepare<[], number>('SELECT start_block FROM chain').pluck().get() ?? 0;
    let before: BlockEnds = {
      number: start - 1,
      timestamp: 0,
      last_transfer: 0,
      last_wallet: 0,
      transactions: 0,
    };
    const rows = db.prepare<[], BlockEnds>(
      'SELECT number, timestamp, last_transfer, last_wallet, transactions FROM blocks ORDER BY number',
    );
    const falls = new TimeFallComparer(db, check);
    for (const row of rows.iterate()) {
      falls.add(row);
      if (row.number < start) check.addDifference(`block ${row.number} is before the first one, ${start}`);
      else if (row.number !== before.number + 1)
        check.addDifference(
          `blocks ${before.number + 1} to ${row.number - 1} are missing`,
          before.number + 1,
        );
      if (row.last_transfer < before.last_transfer || row.last_wallet < before.last_wallet)
        check.addDifference(`block ${row.number} ends with lower ids than the block before`, row.number);
      if (row.transactions < before.transactions)
        check.addDifference(
          `block ${row.number} counts fewer transactions than the block before`,
          row.number,
        );
      before = row;
    }
    falls.conclude();
    check.expect('the last transfer', highest(db, 'transfers'), before.last_transfer);
    check.expect('the last wallet', highest(db, 'wallets'), before.last_wallet);
    checkOwners(db, check, before.last_wallet);
    const parties = db.prepare<[number], number | null>(
      'SELECT max(number) FROM block_parties WHERE number > ?',
    );
    const beyond = parties.pluck().get(before.number) ?? null;
    if (beyond !== null)
      check.addDifference(`block_parties has block ${beyond}, which is not in the index: rebuild the index`);
    if (db.prepare('SELECT 1 FROM index_rules').get() === undefined)
      check.addDifference('index_rules has no row');
    for (const { first, last } of GAP_KINDS.flatMap((kind) => readGaps(db, kind)))
      if (first < start || first > last || last > before.number)
        check.addDifference(`block_gaps has ${first} to ${last}, which are not in the index`);
    check.compared = `${(before.number - start + 1).toLocaleString('en-US')} blocks without a gap`;
  });
}

/** Compares `time_falls` with a recount of all blocks, independently of the store's code. */
class TimeFallComparer {
  private readonly db: Db;
  private readonly check: Check;
  private readonly timeOf: Statement<[number], number>;
  private latest = 0;
  /** The latest timestamp with a fall. */
  private fallen = -1;
  private falls = 0;

  constructor(db: Db, check: Check) {
    this.db = db;
    this.check = check;
    this.timeOf = db.prepare<[number], number>('SELECT time FROM time_falls WHERE first = ?').pluck();
  }

  /** Adds a block, in chain order. */
  add({ number, timestamp }: BlockEnds): void {
    if (timestamp < this.latest && this.fallen !== this.latest) {
      this.check.expect(`the time before block ${number}`, this.timeOf.get(number) ?? null, this.latest);
      this.fallen = this.latest;
      this.falls++;
    }
    this.latest = Math.max(this.latest, timestamp);
  }

  conclude(): void {
    const stored = this.db.prepare<[], number>('SELECT count(*) FROM time_falls').pluck().get();
    this.check.expect('the number of blocks where time falls', stored, this.falls);
  }
}

/** Checks that no rows exist for ids not assigned yet: a new wallet or token would inherit them. */
function checkOwners(db: Db, check: Check, lastWallet: number): void {
  const lastToken = highest(db, 'tokens');
  for (const [table, owner] of TABLES_BY_OWNER) {
    const id = highest(db, table, owner);
    const last = owner === 'token' ? lastToken : lastWallet;
    if (id > last)
      check.addDifference(
        `${table} has a row of ${owner} ${id}, but ${last} is the last one: rebuild the index`,
      );
  }
}

/** Tables whose rows have their own checksums. */
const TABLES = [
  'index_rules',
  'chain_anchors',
  'block_gaps',
  'skipped_logs',
  'rewrites',
  'token_quality',
  'token_metadata',
  'wallet_code',
  'derived',
  'trade_rules',
] as const;

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
 * Calls `onChanged` with each block of `from..to` whose stored rows have a wrong checksum or cannot be read, in
 * ascending order. Returns how many blocks and transfers it read.
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
  private readonly parties: Statement<[number], { parties: unknown; checksum: number }>;

  constructor(db: Db) {
    this.reader = new ChecksumReader(db, chainOf(db)?.chainId ?? 0);
    this.last = db.prepare<[], number | null>('SELECT max(number) FROM blocks').pluck();
    this.row = db
      .prepare<[number], StoredBlockRow>(`SELECT ${BLOCK_COLUMNS} FROM blocks WHERE number = ?`)
      .raw();
    this.parties = db.prepare('SELECT parties, checksum FROM block_parties WHERE number = ?');
  }

  /** A missing block counts as changed, unless it was rolled back meanwhile: then later ones are missing too. */
  compare(number: number): { isChanged: boolean; transfers: number } {
    try {
      const row = this.row.get(number);
      if (row === undefined) return { isChanged: (this.last.get() ?? -1) > number, transfers: 0 };
      const before = endOfBlock(this.row.get(number - 1));
      const { block, checksum } = splitBlockRow(row);
      const isChanged = this.reader.of(block, before) !== checksum || !this.hasRightParties(number);
      return { isChanged, transfers: Math.max(0, endOfBlock(row).lastTransfer - before.lastTransfer) };
    } catch (error) {
      if (!isCorruption(error)) throw error;
      return { isChanged: true, transfers: 0 };
    }
  }

  /** The row of `block_parties`, which not every block has, matches its own checksum. */
  private hasRightParties(number: number): boolean {
    const row = this.parties.get(number);
    return row === undefined || partiesChecksum(number, row.parties) === row.checksum;
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
  for (const table of TABLES) checkRows(db, check, table);
  check.share = tip.lastTransfer === 0 ? 1 : Math.min(1, read.transfers / tip.lastTransfer);
  check.compared =
    `${read.blocks.toLocaleString('en-US')} blocks with ` +
    `${read.transfers.toLocaleString('en-US')} transfers`;
}

function checkRows(db: Db, check: Check, table: (typeof TABLES)[number]): void {
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
