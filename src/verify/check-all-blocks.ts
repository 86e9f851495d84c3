/** Compares every block with the node: its hash, its time and each of its transfers. */

import type { LoadRules } from '../indexer/backfill/load-blocks.ts';
import { findHeaderProof, type HeaderProof, RootCheck } from '../indexer/root-check.ts';
import { FatalError } from '../lib/errors.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import type { RpcClient } from '../node/client.ts';
import { chainOf, hashAt, readLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { batchHash, blockDifference, loadWithRetry } from './block-comparer.ts';
import { compareHash } from './check-blocks.ts';
import { type Check, isVerifyProgress, ProgressFile, type VerifyProgress } from './report.ts';
import { forEachConcurrently } from './sample.ts';

/** Blocks per read, and concurrent reads. */
const BLOCKS_PER_READ = 16;
const CONCURRENCY = 4;

/** Most recorded blocks whose transactions or receipts contradict their header. */
const MAX_WRONG_ROOTS = 1_000;

/** How often progress is saved, milliseconds. */
const SAVE_MS = 2_000;

interface ComparedOptions extends AllBlocksOptions {
  /** What the blocks read so far prove of the chain's headers. */
  headerProof: HeaderProof;
}

interface AllBlocksOptions {
  /** Path of the index. */
  path: string;
  client: RpcClient;
  rules: LoadRules;
  signal: AbortSignal;
  onProgress(text: string): void;
}

/**
 * Resumes where an earlier run stopped. When the signal aborts or the node keeps failing, saves the progress and throws
 * FatalError with how to resume.
 */
export async function checkAllBlocks(
  db: Db,
  { transfers: check, roots }: { transfers: Check; roots: Check },
  options: AllBlocksOptions,
): Promise<void> {
  const { path, signal, onProgress } = options;
  const chain = chainOf(db);
  const tip = readLastBlock(db);
  if (chain === null || tip === null) return;
  const file = new ProgressFile(`${path}.verify`, isVerifyProgress);
  const saved = file.load(db);
  let at = saved === null ? chain.startBlock : saved.block + 1;
  const compared = {
    blocks: saved?.blocks ?? 0,
    transfers: saved?.transfers ?? 0,
    unproven: saved?.unproven ?? 0,
    unprovenReason: saved?.unprovenReason ?? '',
    wrongRoots: [...(saved?.wrongRoots ?? [])],
  };
  for (const { text, block } of saved?.differences ?? []) check.addDifference(text, block);
  check.differenceCount = saved?.differenceCount ?? 0;
  if (saved !== null) check.addNote(`resumed after block ${saved.block}, where an earlier run stopped`);
  const save = (): void => {
    const progress = progressOf(db, chain, at - 1, compared, check);
    if (progress !== null) file.save(progress);
  };
  let savedAt = performance.now();
  const headerProof: HeaderProof = { from: null };
  try {
    headerProof.from = (await findHeaderProof(options.client, [chain.startBlock, at], signal)).from;
    while (at <= tip.number) {
      signal.throwIfAborted();
      const end = Math.min(tip.number, at + BLOCKS_PER_READ * CONCURRENCY - 1);
      const ranges = { from: at, to: end, size: BLOCKS_PER_READ, atOnce: CONCURRENCY };
      const found = await compareBlocks(db, chain.startBlock, ranges, { ...options, headerProof });
      for (const { block, text } of found.differences) check.addDifference(text, block);
      compared.blocks += end - at + 1;
      compared.transfers += found.transfers;
      if (compared.wrongRoots.length < MAX_WRONG_ROOTS) compared.wrongRoots.push(...found.wrongRoots);
      compared.unproven += found.unproven.length;
      const [unproven] = found.unproven;
      if (unproven !== undefined && compared.unprovenReason === '')
        compared.unprovenReason = `block ${unproven.block} has ${unproven.reason}`;
      at = end + 1;
      onProgress(`block ${end} of ${tip.number}, ${Math.floor((end / tip.number) * 100)} %`);
      if (performance.now() - savedAt < SAVE_MS) continue;
      save();
      savedAt = performance.now();
    }
  } catch (error) {
    save();
    if (!signal.aborted && !(error instanceof FatalError)) throw error;
    const reason = signal.aborted ? 'stopped' : error instanceof Error ? error.message : String(error);
    throw new FatalError(`${reason}; all blocks below ${at} are compared: run it again to resume there`, {
      cause: error,
    });
  }
  file.remove();
  concludeRoots(roots, compared);
  check.compared = `all ${compared.blocks.toLocaleString('en-US')} blocks with ${compared.transfers.toLocaleString('en-US')} transfers, decoded again`;
  check.share = 1;
}

function concludeRoots(roots: Check, { blocks, unproven, unprovenReason, wrongRoots }: Compared): void {
  for (const { block, text } of wrongRoots) roots.addDifference(text, block);
  if (unproven > 0)
    roots.addNote(`${unproven.toLocaleString('en-US')} blocks could not be proven: ${unprovenReason}`);
  if (unproven === blocks) return;
  roots.compared = `transactions and receipts of ${(blocks - unproven).toLocaleString('en-US')} blocks by the roots in their headers`;
  roots.share = (blocks - unproven) / blocks;
}

type Compared = Pick<VerifyProgress, 'blocks' | 'transfers' | 'unproven' | 'unprovenReason' | 'wrongRoots'>;

function progressOf(
  db: Db,
  { chainId, startBlock }: { chainId: number; startBlock: number },
  block: number,
  compared: Compared,
  check: Check,
): VerifyProgress | null {
  const hash = hashAt(db, block);
  if (hash === null) return null;
  const { differences, differenceCount } = check;
  return { chainId, startBlock, block, hash, ...compared, differences, differenceCount };
}

interface Found {
  transfers: number;
  differences: { block: number; text: string }[];
  /** Blocks whose transactions or receipts contradict the node's header. */
  wrongRoots: { block: number; text: string }[];
  /** Blocks whose roots cannot be computed here. */
  unproven: { block: number; reason: string }[];
}

/** Compares ranges of `size` blocks, `atOnce` at a time. Differences are in the order of the blocks. */
async function compareBlocks(
  db: Db,
  start: number,
  { from, to, size, atOnce }: { from: number; to: number; size: number; atOnce: number },
  options: ComparedOptions,
): Promise<Found> {
  const starts: number[] = [];
  for (let at = from; at <= to; at += size) starts.push(at);
  const parts: Found[] = [];
  await forEachConcurrently(starts.entries(), atOnce, options.signal, async ([i, at], signal) => {
    parts[i] = await compareRange(db, start, at, Math.min(to, at + size - 1), { ...options, signal });
  });
  const found = nothingFound();
  for (const part of parts) {
    found.transfers += part.transfers;
    found.differences.push(...part.differences);
    found.wrongRoots.push(...part.wrongRoots);
    found.unproven.push(...part.unproven);
  }
  return found;
}

/** Compares a range. A block that contradicts its header is recorded and still compared. */
async function compareRange(
  db: Db,
  start: number,
  from: number,
  to: number,
  options: ComparedOptions,
): Promise<Found> {
  const unproven: Found['unproven'] = [];
  try {
    const rules = { ...options.rules, checkRoots: true };
    const roots = new RootCheck(options.headerProof, (block, reason) => unproven.push({ block, reason }));
    const batch = await loadWithRetry(options, rules, from, to, roots);
    return { ...(await compareBatch(db, start, batch, options)), unproven: distinct(unproven) };
  } catch (error) {
    const { WrongRootError } = await import('../indexer/block-roots.ts');
    if (!(error instanceof FatalError && error.cause instanceof WrongRootError)) throw error;
    if (from < to) return compareBlocks(db, start, { from, to, size: 1, atOnce: 1 }, options);
    const batch = await loadWithRetry(options, options.rules, from, to);
    const found = await compareBatch(db, start, batch, options);
    return { ...found, wrongRoots: [{ block: from, text: error.cause.message }] };
  }
}

/** Drops repeated entries of a block that was read several times. */
function distinct(unproven: Found['unproven']): Found['unproven'] {
  return [...new Map(unproven.map((each) => [each.block, each])).values()];
}

function nothingFound(): Found {
  return { transfers: 0, differences: [], wrongRoots: [], unproven: [] };
}

async function compareBatch(
  db: Db,
  start: number,
  batch: BlockBatch,
  { client, signal }: AllBlocksOptions,
): Promise<Found> {
  const found: Found = { ...nothingFound(), transfers: batch.transferCount };
  for (let i = 0; i < batch.blockCount; i++) {
    const block = batch.number[i]!;
    const isSame = hashAt(db, block) === batchHash(batch, i);
    // A different hash may be a reorg that has not reached the index yet.
    const text = isSame
      ? blockDifference(db, batch, i)
      : await compareHash(db, client, block, start, { left: 100 }, signal);
    if (text === 'absent') found.differences.push({ block, text: `the node has no block ${block} any more` });
    else if (text !== null) found.differences.push({ block, text });
  }
  return found;
}
