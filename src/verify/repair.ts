/** Replacing a range of blocks with what the node has now. */
import { setImmediate } from 'node:timers/promises';
import { FatalError, UpstreamError } from '../errors.ts';
import { backoffMs, pause } from '../lib/backoff.ts';
import { hashAt } from '../store/chain.ts';
import { rejectForeignWal } from '../store/foreign-wal.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { IndexWriter } from '../store/index-writer.ts';
import type { Db } from '../store/open-database.ts';
import { untracedRanges } from '../store/untraced.ts';
import { type LoadRules, loadBlocks } from '../sync/load-blocks.ts';
import { deriveLoadRules } from '../sync/load-rules.ts';
import { fetchNodeBlock, fetchNodeHash, fetchNodeHead, wrongChainError } from '../sync/node-chain.ts';
import { Pipeline } from '../sync/pipeline.ts';
import { sync } from '../sync/sync.ts';
import type { BlockRef, Capabilities } from '../types.ts';
import type { RpcClient } from '../upstream/client.ts';
import { fetchHeader } from '../upstream/methods.ts';
import { batchHash, blockDifference } from './block-comparer.ts';
import { idsOfBlocks, requireSums } from './check-repaired.ts';

/** Blocks read at a time while the range is compared. */
const BLOCKS_PER_READ = 16;

/** Most tries to read a part of the range before the repair fails. */
const MAX_READ_TRIES = 5;

/** Ranges prefetched while indexing again. */
const PIPELINE_DEPTH = 8;

export interface RepairOptions {
  path: string;
  client: RpcClient;
  capabilities: Capabilities;
  wrappedNative: readonly string[];
  from: number;
  to: number;
  cacheMb: number;
  batchTransfers: number;
  signal: AbortSignal;
  onProgress(text: string): void;
}

export interface RepairResult {
  /** What differed, block by block, in words. */
  differing: readonly string[];
  /** First block that was indexed again, null when nothing had to be. */
  replacedFrom: number | null;
  /** Where the index ends now. */
  head: BlockRef;
}

/**
 * Reads the range from the node and compares it; from the first differing block on the index is rolled back and
 * indexed again up to where it ended. Ids are dense and counters are running sums, so nothing after a changed block
 * could stay. A kill or an abort leaves a shorter index that the daemon continues; while blocks are removed, the newest
 * first, it still holds those that differ. Blocks compared or indexed again with traces are then marked as traced.
 * Throws FatalError when the node lacks the range or its chain does not join the index before it, or when sums differ in
 * the end because the file was damaged; UpstreamError when the node does not answer. When the signal aborts it throws
 * the reason, or, once blocks were removed, FatalError with what is left to do.
 */
export async function repairRange(options: RepairOptions): Promise<RepairResult> {
  const { path, from, to, capabilities } = options;
  const rules = deriveLoadRules(capabilities, options.wrappedNative);
  rejectForeignWal(path);
  openIndexForReading(path).close(); // a missing index must not be created
  const writer = new IndexWriter(path, { cacheMb: options.cacheMb });
  try {
    const head = requireRange(writer, capabilities, from, to);
    const { differing, replaced } = await reading(path, async (db) => {
      const differing = await findDifferences(db, rules, options);
      return { differing, replaced: idsOfBlocks(db, differing.map(blockOf)) };
    });
    const [first] = differing;
    if (rules.traces !== null) writer.setTraced({ first: from, last: first ? first.block - 1 : to });
    if (first === undefined) return { differing: [], replacedFrom: null, head };
    await requireParentLink(writer, options, first.block);
    const isRemoved = await removeAbove(writer, first.block - 1, options);
    await indexUpTo(writer, rules, options, head.number);
    const end = writer.head();
    if (end === null || end.number < head.number) {
      const left = isRemoved
        ? '; "atlas-node start" goes on from there'
        : `, and block ${first.block} still differs: run it again with --repair ${first.block}..${Math.min(to, end?.number ?? to)}`;
      throw new FatalError(
        `the index now ends with block ${end?.number ?? 'none'} instead of ${head.number}${left}`,
      );
    }
    await reading(path, (db) =>
      requireSums(db, path, [replaced, idsOfBlocks(db, differing.map(blockOf))], options),
    );
    return { differing: differing.map(({ text }) => text), replacedFrom: first.block, head: end };
  } finally {
    writer.close();
  }
}

/** Runs reads of the index on a connection of their own. */
async function reading<T>(path: string, read: (db: Db) => Promise<T>): Promise<T> {
  const db = openIndexForReading(path);
  return read(db).finally(() => db.close());
}

function requireRange(writer: IndexWriter, { chainId }: Capabilities, from: number, to: number): BlockRef {
  const chain = writer.chain();
  const head = writer.head();
  if (chain === null || head === null) throw new FatalError('the index is empty: there is nothing to repair');
  if (chain.chainId !== chainId) throw wrongChainError(chain.chainId, chainId);
  if (from < chain.startBlock || to > head.number) {
    const advice = to > head.number ? '; if a repair was stopped, "atlas-node start" indexes the rest' : '';
    throw new FatalError(
      `the index holds blocks ${chain.startBlock} to ${head.number}: blocks ${from} to ${to} are not within${advice}`,
    );
  }
  return head;
}

interface BlockDifference {
  block: number;
  text: string;
}

function blockOf({ block }: BlockDifference): number {
  return block;
}

/**
 * Every block of the range whose hash or transfers differ from the node's, up to the first one that lacks its internal
 * transfers: later ones lack them too, maybe millions, and all will be indexed again.
 */
async function findDifferences(db: Db, rules: LoadRules, options: RepairOptions): Promise<BlockDifference[]> {
  const { from, to, onProgress } = options;
  const found: BlockDifference[] = [];
  const untraced = rules.traces === null ? [] : untracedRanges(db);
  for (let at = from; at <= to; at += BLOCKS_PER_READ) {
    onProgress(`comparing block ${at} of ${from} to ${to}`);
    const batch = await loadWithRetry(options, rules, at, Math.min(to, at + BLOCKS_PER_READ - 1));
    for (let i = 0; i < batch.blockCount; i++) {
      const block = batch.number[i]!;
      const hash = batchHash(batch, i);
      const indexed = hashAt(db, block);
      const text =
        indexed === hash
          ? blockDifference(db, batch, i)
          : `block ${block} is ${indexed ?? 'missing'} in the index and ${hash} on the node`;
      if (text === null) continue;
      found.push({ block, text });
      if (untraced.some(({ first, last }) => first <= block && block <= last)) return found;
    }
  }
  return found;
}

async function loadWithRetry({ client, signal }: RepairOptions, rules: LoadRules, from: number, to: number) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await loadBlocks(client, rules, from, to, signal);
    } catch (error) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      if (attempt === MAX_READ_TRIES)
        throw new FatalError(`blocks ${from} to ${to} cannot be had from the node: ${error.message}`, {
          cause: error,
        });
      await pause(backoffMs(attempt, 100, 1_000), signal);
    }
  }
}

/** Throws, before anything is removed, unless the node's block `first` follows the indexed block below it by hash. */
async function requireParentLink(
  writer: IndexWriter,
  { client, signal }: RepairOptions,
  first: number,
): Promise<void> {
  const below = writer.hashAt(first - 1);
  const node = await fetchHeader(client, first, signal);
  if (node === null) throw new FatalError(`the node has no block ${first} any more`);
  if (below !== null && node.parentHash !== below)
    throw new FatalError(
      `block ${first} of the node follows ${node.parentHash}, but block ${first - 1} is ${below} in the index: begin the repair at a lower block`,
    );
}

/** Removes every block above `to`; false when the signal aborts before that, as of a large index it takes minutes. */
async function removeAbove(
  writer: IndexWriter,
  to: number,
  { signal, onProgress }: RepairOptions,
): Promise<boolean> {
  while (!signal.aborted) {
    if (writer.rollbackStep(to)) return true;
    onProgress(`removing blocks: ${writer.head()?.number ?? to} down to ${to + 1}`);
    await setImmediate();
  }
  return false;
}

/** Indexes up to block `last` by the daemon's rules: only blocks that link by hash are stored. */
async function indexUpTo(
  writer: IndexWriter,
  rules: LoadRules,
  options: RepairOptions,
  last: number,
): Promise<void> {
  const { client, capabilities, batchTransfers, onProgress } = options;
  const done = new AbortController();
  const signal = AbortSignal.any([options.signal, done.signal]);
  const pipeline = new Pipeline((from, to, rangeSignal) => loadBlocks(client, rules, from, to, rangeSignal), {
    depth: PIPELINE_DEPTH,
    batchTransfers,
  });
  const events = sync(
    {
      headTag: capabilities.headTag,
      startBlock: writer.chain()?.startBlock ?? 0,
      local: writer,
      node: {
        async head() {
          const head = await fetchNodeHead(client, capabilities.headTag, signal);
          return head.number <= last ? head : fetchNodeBlock(client, last, signal);
        },
        hashAt: (number) => fetchNodeHash(client, number, signal),
      },
      pipeline,
      waitForHead: (waitSignal) => pause(250, waitSignal),
      onNodeHead: () => undefined,
      onStepOutcome: (error) => error && onProgress(`waiting: ${error.message}`),
    },
    signal,
  );
  try {
    for await (const event of events) {
      if (event.kind === 'reorg') writer.rollback(event.to);
      else writer.append(event.batches);
      const head = writer.head()?.number ?? 0;
      onProgress(`indexing again: block ${head} of ${last}`);
      if (head >= last) done.abort();
    }
  } finally {
    pipeline.reset(); // what was fetched ahead is not needed, whatever the end
  }
}
