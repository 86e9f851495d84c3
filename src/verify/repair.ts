/** Repairs an index: rebuilds a damaged file, and replaces a range of blocks with the node's. */
import { setImmediate } from 'node:timers/promises';
import { deriveLoadRules, type LoadRules, loadRange } from '../indexer/backfill/load-blocks.ts';
import { Pipeline } from '../indexer/backfill/pipeline.ts';
import { UntracedBlocks } from '../indexer/backfill/untraced-blocks.ts';
import { ChainGuard } from '../indexer/chain-guard.ts';
import { sync } from '../indexer/follow.ts';
import { fetchNodeBlock, fetchNodeHead, wrongChainError } from '../indexer/node-chain.ts';
import { ruleSources, rulesOfIndex } from '../indexer/rules-of-index.ts';
import { SuspectBlocks } from '../indexer/suspect-blocks.ts';
import { pause } from '../lib/async.ts';
import { FatalError } from '../lib/errors.ts';
import type { BlockRef } from '../model/block.ts';
import { GAP_KINDS } from '../model/block-gap.ts';
import type { ChainFinality } from '../model/finality.ts';
import { type ConfiguredLists, newRules, type RuleSources, rulesText } from '../model/index-rules.ts';
import type { Capabilities } from '../model/index-status.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import type { RpcClient } from '../node/client.ts';
import { fetchHeaders } from '../node/methods.ts';
import type { BlockRange } from '../store/block-gaps.ts';
import { acquireIndexLock, openIndexForReading } from '../store/index-file.ts';
import { readRules } from '../store/index-rules.ts';
import { IndexWriter } from '../store/index-writer.ts';
import type { Db } from '../store/open-database.ts';
import { isCorruption } from '../store/storage-error.ts';
import { rejectForeignWal } from '../store/wal.ts';
import { loadWithRetry, toleranceOf } from './block-comparer.ts';
import { findDamage, findWrongSum, idsOfBlocks, isReplaceable } from './find-damage.ts';
import { type BlockToReplace, findDifferences, NOTHING_FOUND, rangesWithout } from './find-differences.ts';
import { rebuildIndex } from './rebuild.ts';
import { requireSameChain } from './same-chain.ts';

/** Ranges to prefetch while reindexing. */
const PIPELINE_DEPTH = 8;

interface RepairOptions {
  path: string;
  client: RpcClient;
  capabilities: Capabilities;
  /** Completes the rules of an index of an earlier release, or replaces damaged ones. */
  configured: ConfiguredLists;
  configuredTrades: ConfiguredTradeLists;
  finality: ChainFinality;
  /** The blocks to compare with the node; null to repair only damage in the file. */
  range: BlockRange | null;
  cacheMb: number;
  batchTransfers: number;
  /** Most blocks that a reorg may remove during reindexing. */
  maxReorg: number;
  signal: AbortSignal;
  onProgress(text: string): void;
}

export interface RepairResult {
  /** The differences found, block by block. */
  differing: readonly string[];
  /** First reindexed block, null if none. */
  replacedFrom: number | null;
  /** Whether the file was damaged and rebuilt from its own blocks and the node's. */
  rebuilt: boolean;
  /** The index's head after the repair. */
  head: BlockRef;
}

/**
 * First checks for damage: blocks with a wrong checksum, and counters, holdings and history pages that do not follow
 * from the transfers. A damaged file is marked and rebuilt. It cannot be rolled back, because a rollback subtracts the
 * rows that it finds and the disk has changed those. The mark stays until the rebuilt file replaces the damaged one.
 *
 * Then compares the range with the node. From the first differing block on, the index is rolled back and reindexed up
 * to its former head: ids are dense and counters are running sums, so nothing after a changed block can stay. A kill or
 * an abort leaves a shorter index that the daemon continues; until the rollback is complete, it still contains the
 * differing blocks. Blocks compared or reindexed with traces leave the trace gaps.
 *
 * Throws FatalError when the node is on another chain, lacks the range, or does not connect to the index before it,
 * UpstreamError when the node does not answer. When the signal aborts it throws the reason or, once blocks were
 * removed, FatalError with what remains to be done.
 */
export async function repairRange(options: RepairOptions): Promise<RepairResult> {
  const { path, capabilities, range } = options;
  rejectForeignWal(path);
  openIndexForReading(path).close(); // throws if the index is missing, instead of creating it
  const lock = acquireIndexLock(path);
  try {
    const head = await withWriter(options, async (writer) => requireRange(writer, capabilities, range));
    await reading(path, (db) => requireSameChain(db, options, 'nothing was changed'));
    const anchors = await withWriter(options, (writer) => repairAnchors(writer, options, head));
    const lostRules = await withWriter(options, async (writer) => repairRules(writer, options));
    const made = await reading(path, async (db) => rulesOfIndex(readRules(db), sourcesOf(options)));
    const tolerance = await reading(path, async (db) => toleranceOf(db));
    const rules = { ...deriveLoadRules(capabilities, made), tolerance };
    const damage = await repairDamage(options, rules, head);
    const result = await withWriter(options, (writer) => replaceRange(writer, rules, options, head));
    return {
      ...result,
      differing: [...anchors, ...lostRules, ...damage, ...result.differing],
      rebuilt: damage.length > 0,
    };
  } finally {
    lock.release();
  }
}

/** Runs work with a writer. The caller holds the writer lock. */
async function withWriter<T>(options: RepairOptions, work: (writer: IndexWriter) => Promise<T>): Promise<T> {
  const writer = new IndexWriter(options.path, { cacheMb: options.cacheMb, isLockHeld: true });
  return work(writer).finally(() => writer.close());
}

/**
 * Reads the chain identity from the node again if it is damaged. Returns descriptions of the damage. A reorg in
 * progress loses the bound on its depth.
 */
async function repairAnchors(
  writer: IndexWriter,
  { client, finality, signal }: RepairOptions,
  head: BlockRef,
): Promise<readonly string[]> {
  if (writer.areAnchorsWhole()) return [];
  const start = writer.chain()?.startBlock ?? 0;
  const [genesis, first, last] = await fetchHeaders(client, [0, start, head.number], signal);
  const isSameChain = [first, last].some((header) => header && header.hash === writer.hashAt(header.number));
  if (!isSameChain)
    throw new FatalError(
      `the chain identity in the index is damaged, and the node has neither its block ${start} nor its ` +
        `block ${head.number}: nothing was changed; use a node that has one of them`,
    );
  writer.setAnchors({
    genesis: genesis?.hash ?? null,
    firstParent: first?.parentHash ?? null,
    finalized: finality.rule === 'instant' ? head.number : null, // the daemon proves the node's tag again
    reorgFrom: null,
  });
  return ['the chain identity (chain_anchors) does not match its checksum'];
}

function sourcesOf({ capabilities, configured }: RepairOptions): RuleSources {
  return ruleSources(capabilities, configured);
}

/**
 * Replaces damaged rules by those that a new index would get, because nothing else tells them. Returns a description.
 */
function repairRules(writer: IndexWriter, options: RepairOptions): readonly string[] {
  if (writer.areRulesWhole()) return [];
  const rules = newRules(sourcesOf(options));
  writer.setRules(rules);
  return [
    `the rules of the index (index_rules) were lost: it now has ${rulesText(rules)}; run "atlas-node verify ` +
      '--all" to see whether its blocks follow them',
  ];
}

/** Rebuilds the file if it is damaged. Returns descriptions of the damage. */
async function repairDamage(
  options: RepairOptions,
  rules: LoadRules,
  head: BlockRef,
): Promise<readonly string[]> {
  const { path, signal } = options;
  const found = await reading(path, (db) => findDamage(db, options));
  if (!found.isDamaged) {
    if (found.isMarked) await withWriter(options, async (writer) => writer.clearDamage());
    return [];
  }
  await withWriter(options, async (writer) => writer.markDamaged(found.texts[0] ?? 'unknown'));
  try {
    await rebuildIndex({
      ...options,
      last: head.number,
      changed: found.changed,
      load: (block) => loadWithRetry(options, rules, block, block),
      isReplaceable: (db, block, hash) =>
        isReplaceable(db, options, { last: head.number, changed: found.changed }, block, hash),
    });
  } catch (error) {
    if (!signal.aborted || isCorruption(error)) throw error;
    throw new FatalError('stopped before the damage was repaired: run "atlas-node verify --repair" again');
  }
  return found.texts;
}

/** Compares the range with the node and replaces what differs. Indexes up to `head` if a rebuilt index ends earlier. */
async function replaceRange(
  writer: IndexWriter,
  rules: LoadRules,
  options: RepairOptions,
  head: BlockRef,
): Promise<RepairResult> {
  const { path, range } = options;
  const last = writer.head()?.number ?? -1;
  const compared = range === null ? null : { first: range.first, last: Math.min(range.last, last) };
  const { differing, incomplete, replaced } = await reading(path, async (db) => {
    const found = compared === null ? NOTHING_FOUND : await findDifferences(db, rules, compared, options);
    return { ...found, replaced: idsOfBlocks(db, found.differing.map(blockOf)) };
  });
  const [first] = differing;
  if (compared !== null) {
    const last = first ? first.block - 1 : compared.last;
    for (const kind of GAP_KINDS)
      for (const range of rangesWithout(incomplete[kind], { first: compared.first, last }))
        writer.setComplete(kind, range);
  }
  if (first === undefined && last >= head.number)
    return { differing: [], replacedFrom: null, rebuilt: false, head };
  if (first !== undefined) {
    requireParentLink(writer, first);
    // The operator has decided which chain is right, so the bounds of a reorg do not apply.
    writer.setReorgFrom(null);
  }
  const isRemoved = first === undefined || (await removeAbove(writer, first.block - 1, options));
  await indexUpTo(writer, rules, options, head.number);
  const end = writer.head();
  if (end === null || end.number < head.number) {
    const left = isRemoved
      ? '; "atlas-node start" continues from there'
      : `, and block ${first?.block} still differs: run it again with ` +
        '--repair ' +
        `${first?.block}..${Math.min(range?.last ?? head.number, end?.number ?? head.number)}`;
    throw new FatalError(
      `the index now ends with block ${end?.number ?? 'none'} instead of ${head.number}${left}`,
    );
  }
  const wrong = await reading(path, (db) =>
    findWrongSum(db, [replaced, idsOfBlocks(db, differing.map(blockOf))], options),
  );
  if (wrong !== null) {
    writer.markDamaged(wrong);
    throw new FatalError(
      `${wrong}: run "atlas-node verify --repair" to rebuild what does not follow from the transfers`,
    );
  }
  return {
    differing: differing.map(({ text }) => text),
    replacedFrom: first?.block ?? last + 1,
    rebuilt: false,
    head: end,
  };
}

/** Runs reads of the index on their own connection. */
async function reading<T>(path: string, read: (db: Db) => Promise<T>): Promise<T> {
  const db = openIndexForReading(path);
  return read(db).finally(() => db.close());
}

function requireRange(writer: IndexWriter, { chainId }: Capabilities, range: BlockRange | null): BlockRef {
  const chain = writer.chain();
  const head = writer.head();
  if (chain === null || head === null) throw new FatalError('the index is empty: there is nothing to repair');
  if (chain.chainId !== chainId) throw wrongChainError(chain.chainId, chainId);
  if (range !== null && (range.first < chain.startBlock || range.last > head.number)) {
    const advice =
      range.last > head.number ? '; if a repair was stopped, "atlas-node start" indexes the rest' : '';
    throw new FatalError(
      `the index holds blocks ${chain.startBlock} to ${head.number}: blocks ${range.first} to ${range.last} ` +
        `are not within${advice}`,
    );
  }
  return head;
}

function blockOf({ block }: BlockToReplace): number {
  return block;
}

/**
 * Throws unless the node's block is a child of the indexed block below it. Judges the answer that differed: behind a
 * load balancer, another answer may come from another chain.
 */
function requireParentLink(writer: IndexWriter, { block, parent }: BlockToReplace): void {
  const below = writer.hashAt(block - 1) ?? writer.anchors().firstParent;
  if (below !== null && parent !== below)
    throw new FatalError(
      `block ${block} of the node follows ${parent}, but block ${block - 1} is ${below} in the index: begin ` +
        'the repair at a lower block',
    );
}

/** Removes every block above `to`, which takes minutes in a large index. Returns false when the signal aborts first. */
async function removeAbove(
  writer: IndexWriter,
  to: number,
  { signal, onProgress }: RepairOptions,
): Promise<boolean> {
  const rewrite = { number: null };
  while (!signal.aborted) {
    if (writer.rollbackStep(to, rewrite)) return true;
    onProgress(`removing blocks: ${writer.head()?.number ?? to} down to ${to + 1}`);
    await setImmediate();
  }
  return false;
}

/** Indexes up to block `last` by the daemon's rules, which store only blocks linked by hash. */
async function indexUpTo(
  writer: IndexWriter,
  rules: LoadRules,
  options: RepairOptions,
  last: number,
): Promise<void> {
  const { client, capabilities, finality, maxReorg, batchTransfers, onProgress } = options;
  const { headTag } = capabilities;
  const followed = { headTag, rule: finality.rule, maxReorg };
  const isTagProved = () => writer.anchors().finalized !== null;
  const done = new AbortController();
  const signal = AbortSignal.any([options.signal, done.signal]);
  const untraced = new UntracedBlocks({
    load: async (number, trySignal) => (await loadRange(client, rules, number, number, trySignal))[0]!,
    onGap: (block, reason) =>
      onProgress(`block ${block} is indexed without its internal transfers: ${reason}`),
  });
  const tell = (_fields: unknown, text: string) => onProgress(text);
  const suspects = new SuspectBlocks({ log: { warn: tell, error: tell }, onCustom: onProgress });
  const { gaps = [] } = rules.tolerance ?? {};
  const pipeline = new Pipeline(
    (from, to, signal) =>
      suspects.load({ from, to, client, others: null, rules, signal }, (tolerance) =>
        loadRange(client, { ...rules, tolerance: { ...tolerance, gaps } }, from, to, signal),
      ),
    { depth: PIPELINE_DEPTH, batchTransfers, untraced },
  );
  const events = sync(
    {
      headTag,
      startBlock: writer.chain()?.startBlock ?? 0,
      local: writer,
      async nodeHead() {
        const head = await fetchNodeHead(client, followed, signal);
        return head.number <= last ? head : fetchNodeBlock(client, last, signal);
      },
      guard: new ChainGuard(writer, client, { headTag, finality, isTagProved, maxReorg }, signal),
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
    pipeline.reset(); // drop prefetched ranges
  }
}
