/**
 * Index stats: bytes per table, transfers per kind, growth per day. Measuring reads much of the file, so it happens
 * rarely and in its own thread (indexer/stats-thread.ts).
 */
import { fileBytes, freeDiskBytes } from '../lib/files.ts';
import type { IndexStats } from '../model/index-stats.ts';
import { byKindName, TRANSFER_KINDS } from '../model/transfer-kind.ts';
import { prepareGrowthBase } from './block-times.ts';
import { chainOf, prepareLastBlock, type Tip } from './chain.ts';
import { type Db, highest } from './open-database.ts';

const DAY = 86_400;

/** Seconds of chain needed to estimate growth per day. */
const MIN_GROWTH_SECONDS = 600;

/**
 * Longest time spent on one b-tree, milliseconds. The WAL cannot be emptied during the read; even the fastest writer
 * stays far below the WAL's budget in 5 s.
 */
const TREE_LIMIT_MS = 5_000;

/** Pages read between two checks of the clock. */
const PAGES_PER_CLOCK_CHECK = 4_096;

/** Counts all transfers up to this many; above, takes SAMPLES evenly spread samples of SAMPLE_LENGTH. */
const MAX_EXACT_COUNT = 500_000;
const SAMPLES = 512;
const SAMPLE_LENGTH = 256;

/** Measures an open index; `path` is its file. */
export function measureIndex(db: Db, path: string, treeLimitMs = TREE_LIMIT_MS): IndexStats {
  const startedAt = performance.now();
  const at = Date.now();
  const whole = db.transaction(() => ({ fileBytes: databaseBytes(db), ...measureChain(db) }))();
  const walBytes = fileBytes(`${path}-wal`);
  const freeBytes = freeDiskBytes(path);
  const sizes = tableSizes(db, whole.fileBytes, treeLimitMs);
  return {
    at,
    ...whole,
    walBytes,
    freeBytes,
    ...sizes,
    kinds: countKinds(db),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

/** Size of the file including pages still in the WAL: during a backfill the file alone lags far behind. */
export function databaseBytes(db: Db): number {
  return Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }));
}

function tableSizes(db: Db, fileBytes: number, limitMs: number): Pick<IndexStats, 'tables' | 'unmeasured'> {
  const trees = db
    .prepare<[], { name: string; tableName: string }>(
      'SELECT name, tbl_name AS tableName FROM sqlite_schema WHERE rootpage > 0',
    )
    .all();
  const bytes = new Map<string, number>();
  const tooLarge = new Set<string>();
  let measured = 0;
  for (const { name, tableName } of trees) {
    const size = btreeBytes(db, name, limitMs);
    if (size === null) tooLarge.add(tableName);
    else bytes.set(tableName, (bytes.get(tableName) ?? 0) + size);
  }
  for (const name of tooLarge) bytes.delete(name);
  for (const size of bytes.values()) measured += size;
  return {
    tables: [...bytes].map(([name, size]) => ({ name, bytes: size })).sort((a, b) => b.bytes - a.bytes),
    unmeasured:
      tooLarge.size === 0 ? null : { names: [...tooLarge], bytes: Math.max(0, fileBytes - measured) },
  };
}

/** Bytes of one b-tree, null when measuring it exceeds the limit. */
function btreeBytes(db: Db, name: string, limitMs: number): number | null {
  const deadline = performance.now() + limitMs;
  const pages = db.prepare<[string], number>('SELECT pgsize FROM dbstat WHERE name = ?').pluck();
  let bytes = 0;
  let seen = 0;
  for (const size of pages.iterate(name)) {
    bytes += size;
    if (++seen % PAGES_PER_CLOCK_CHECK === 0 && performance.now() > deadline) return null;
  }
  return bytes;
}

function countKinds(db: Db): IndexStats['kinds'] {
  const last = highest(db, 'transfers');
  const count = db.prepare<[number, number], { kind: number; transfers: number }>(
    'SELECT kind, count(*) AS transfers FROM transfers WHERE id > ? AND id <= ? GROUP BY kind',
  );
  const estimated = last > MAX_EXACT_COUNT;
  const sampleStarts = estimated
    ? Array.from({ length: SAMPLES }, (_, i) => Math.floor((i * (last - SAMPLE_LENGTH)) / (SAMPLES - 1)))
    : [0];
  const counts = TRANSFER_KINDS.map(() => 0);
  for (const from of sampleStarts) {
    for (const { kind, transfers } of count.all(from, estimated ? from + SAMPLE_LENGTH : last)) {
      counts[kind] = (counts[kind] ?? 0) + transfers;
    }
  }
  const scale = estimated ? last / (SAMPLES * SAMPLE_LENGTH) : 1;
  return {
    estimated,
    transfers: byKindName(({ code }) => Math.round((counts[code] ?? 0) * scale)),
  };
}

/** The head, the number of transfers and the recent growth. */
function measureChain(db: Db): Pick<IndexStats, 'head' | 'transfers' | 'growth'> {
  const lastUpTo = prepareLastBlock(db);
  const head = lastUpTo();
  if (head === null) return { head: null, transfers: 0, growth: null };
  const startBlock = chainOf(db)?.startBlock ?? head.number;
  const { block, seconds } = prepareGrowthBase(db)({ ...head, startBlock }, DAY);
  const base = lastUpTo(block) ?? head;
  return { head: head.number, transfers: head.lastTransfer, growth: growthBetween(base, head, seconds) };
}

/** Uses the chain's clock, so that the figure also holds during a backfill. */
function growthBetween(start: Tip, head: Tip, seconds: number): IndexStats['growth'] {
  if (head.lastTransfer === 0 || seconds < MIN_GROWTH_SECONDS) return null;
  const transfers = head.lastTransfer - start.lastTransfer;
  return {
    seconds,
    transfersPerDay: (transfers / seconds) * DAY,
    transfersPerBlock: transfers / (head.number - start.number),
  };
}
