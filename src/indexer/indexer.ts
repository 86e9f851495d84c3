/** The work of the indexer thread, from opening the index to closing it. */

import { releaseBatch } from '../decode/batch.ts';
import { abortWith, pause, WakeablePause } from '../lib/async.ts';
import { DamagedFileError } from '../lib/errors.ts';
import { freeDiskBytes } from '../lib/files.ts';
import type { ThreadLog } from '../log/logger.ts';
import { finalityOf } from '../model/finality.ts';
import type { SelectedNode } from '../node/choice/selected-node.ts';
import { CheckpointClient } from '../store/checkpoint-client.ts';
import { IndexWriter } from '../store/index-writer.ts';
import { TokenRefresh } from '../tokens/token-refresh.ts';
import type { CodeRequests } from '../tokens/wallet-code-loop.ts';
import { AdaptiveCommitSize, walLimit } from './adaptive-commit-size.ts';
import { AnchorWatch } from './anchor-watch.ts';
import { applyEvent, CommitAbandoned } from './apply-event.ts';
import { deriveLoadRules, loadRange } from './backfill/load-blocks.ts';
import { Pipeline, RANGE_BLOCKS_START } from './backfill/pipeline.ts';
import { UntracedBlocks } from './backfill/untraced-blocks.ts';
import { BackfillWorkerPool } from './backfill/worker-pool.ts';
import { startBackgroundTasks } from './background-tasks.ts';
import { ChainGuard } from './chain-guard.ts';
import { chooseStart, connect, proveHeaders, tracesWarning } from './connect.ts';
import { keepDerived } from './derive.ts';
import { sync } from './follow.ts';
import { gapLog } from './gap-log.ts';
import type { IndexerContext } from './indexer-context.ts';
import { NewestHeaderWatch } from './newest-header.ts';
import { fetchNodeHead } from './node-chain.ts';
import { CallRecorder, newNodeClient } from './node-client.ts';
import { OtherNodes } from './other-nodes.ts';
import { Progress, readContents } from './progress.ts';
import type { IndexerThreadOptions, NodeClientOptions, Send } from './protocol.ts';
import { isMomentary, reportFailure, reportSuccess, retryWriteAndReport } from './retry-write.ts';
import { RootCheck } from './root-check.ts';
import { ruleSources, settleRules } from './rules-of-index.ts';
import { settleTradeRules } from './settle-trade-rules.ts';
import { SuspectBlocks } from './suspect-blocks.ts';
import { watchHeads } from './watch-heads.ts';

/** What the indexer has around it: in the program, its thread. */
export interface IndexerSurroundings {
  node: SelectedNode;
  send: Send;
  log: ThreadLog;
  /** Wallets to find out whether they are contracts. */
  codeRequests: CodeRequests;
  /** Whether the indexer must end, also during a commit, which reads no messages. */
  mustStop(): boolean;
}

/** A WAL below this many bytes is cheap to keep, and one later checkpoint serves many blocks. */
const MIN_WAL_BYTES = 8 * 2 ** 20;

/** Time for a checkpoint in progress to end, milliseconds. */
const CHECKPOINT_STOP_MS = 2_000;

/** Interval of status reports, milliseconds. */
const REPORT_MS = 250;

/** Wait before indexing resumes after damage, milliseconds. A failed disk read also looks like damage. */
const DAMAGE_RETRY_MS = 15_000;

/**
 * Indexes until the signal aborts. The serving thread holds the writer lock. Throws FatalError when it cannot continue;
 * closes the index either way. Damage stops only the indexing: the readable part is still served, and a restart would
 * hit the same damage.
 */
export async function runIndexer(
  options: IndexerThreadOptions,
  surroundings: IndexerSurroundings,
  signal: AbortSignal,
): Promise<void> {
  const progress = new Progress(options.index.readyLag);
  let logged = '';
  while (!signal.aborted) {
    try {
      return await indexUntilStopped(options, surroundings, progress, signal);
    } catch (error) {
      if (!(error instanceof DamagedFileError)) throw error;
      if (error.message !== logged)
        surroundings.log.error({ reason: error.message }, 'indexing has stopped: the index is damaged');
      logged = error.message;
      await reportStop(error, surroundings, progress, signal);
    }
  }
}

/** Keeps reporting until indexing resumes, because the serving thread takes reports as a sign of life. */
async function reportStop(
  { message }: DamagedFileError,
  { node, send }: IndexerSurroundings,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + DAMAGE_RETRY_MS;
  progress.setStopped(`indexing has stopped: ${message}`);
  while (!signal.aborted && performance.now() < until) {
    const { status, delta } = progress.takeReport();
    send({ kind: 'status', at: node.at, status, delta: { ...delta, calls: [] } });
    await pause(REPORT_MS, signal);
  }
}

async function indexUntilStopped(
  options: IndexerThreadOptions,
  surroundings: IndexerSurroundings,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const store = new IndexWriter(options.indexPath, { cacheMb: options.index.cacheMb, isLockHeld: true });
  try {
    store.disableAutoCheckpoint();
    progress.setContents(readContents(store));
    progress.setStartBlock(store.chain()?.startBlock ?? null);
    await indexInto(store, options, surroundings, progress, signal);
  } finally {
    store.close();
  }
}

async function indexInto(
  store: IndexWriter,
  options: IndexerThreadOptions,
  { node, send, log, codeRequests, mustStop }: IndexerSurroundings,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const checkpoints = new CheckpointClient(options.indexPath, { minWalBytes: MIN_WAL_BYTES, log });
  const calls = new CallRecorder();
  /** Position of the node that the status describes. A newly chosen node takes effect in the next round. */
  let { at } = node;
  let reportedAt = 0;
  const report = (): void => {
    reportedAt = performance.now();
    const { status, delta } = progress.takeReport();
    send({ kind: 'status', at, status, delta: { ...delta, calls: calls.drain() } });
  };
  const onCommitStep = (): void => {
    if (mustStop()) throw new CommitAbandoned();
    if (performance.now() - reportedAt >= REPORT_MS) report();
  };
  const reportTimer = setInterval(report, REPORT_MS);
  const suspects = new SuspectBlocks({
    log,
    gapAfterMs: options.index.logGapMs,
    onCustom(text) {
      progress.setUnchecked(text);
      log.warn({ reason: text }, 'some checks of this chain are left out');
    },
  });
  const ended = new AbortController();
  const running = AbortSignal.any([signal, ended.signal]);
  const settled = new WakeablePause();
  const deriving = keepDerived({ store, checkpoints, progress, log }, settled, running).catch(
    (error: unknown) => {
      ended.abort();
      throw error;
    },
  );
  deriving.catch(() => undefined); // awaited at the end
  /** Smaller after each round that stored nothing, so that blocks are stored even where the node changes often. */
  let firstRange = RANGE_BLOCKS_START;
  try {
    report();
    while (!running.aborted) {
      at = node.at;
      progress.setNodeChain('unchecked');
      const { ws, http } = node.current;
      const before = progress.status.head?.number;
      const source = { ws, http, tracesHttp: options.tracesHttp, ...options.node };
      await untilNodeChanges(node, running, async (round) => {
        const client = newNodeClient(source, calls);
        const context = { store, checkpoints, progress, client, calls, send, log, onCommitStep };
        const sync = { round, stop: running, firstRange, suspects, codeRequests, settled };
        await runSync(options, source, context, sync).finally(() => client.close());
      });
      const hasStored = progress.status.head?.number !== before;
      firstRange = hasStored ? RANGE_BLOCKS_START : Math.max(1, firstRange >> 1);
    }
    await deriving;
  } finally {
    ended.abort();
    await deriving.catch(() => undefined);
    clearInterval(reportTimer);
    await checkpoints.close(CHECKPOINT_STOP_MS);
    report();
  }
}

/** Runs `work` with a signal that aborts with `signal`, or when another node is chosen. */
async function untilNodeChanges(
  node: SelectedNode,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const round = new AbortController();
  const unlink = abortWith(round, signal);
  const unsubscribe = node.onSelect(() => round.abort());
  await work(round.signal).finally(() => {
    unlink();
    unsubscribe();
  });
}

/** The node to index from. */
interface NodeSource extends NodeClientOptions {
  ws: string;
}

interface SyncRound {
  /** Aborts when another node is chosen, or with `stop`. */
  round: AbortSignal;
  stop: AbortSignal;
  /** Most blocks of the first range. */
  firstRange: number;
  suspects: SuspectBlocks;
  codeRequests: CodeRequests;
  /** Woken when the lists of trades are settled. */
  settled: WakeablePause;
}

/** Connects, chooses the first block, and stores the events of the sync. */
async function runSync(
  options: IndexerThreadOptions,
  from: NodeSource,
  context: IndexerContext,
  { round: signal, stop, firstRange, suspects, codeRequests, settled }: SyncRound,
): Promise<void> {
  const { store, progress, client, calls, send, log } = context;
  const capabilities = await connect(options, context, signal);
  if (capabilities === null) return;
  const warning = tracesWarning(progress.status, capabilities);
  if (warning !== null) log.warn(warning.fields, warning.msg);
  const made = await settleRules(context, ruleSources(capabilities, options.configured), signal);
  if (made === null) return;
  const rules = deriveLoadRules(capabilities, made, options.index.checkRoots);
  const { headTag } = capabilities;
  const { maxReorg } = options.index;
  const finality = finalityOf(options.index.finality, capabilities);
  const followed = { headTag, rule: finality.rule, maxReorg };
  const startBlock = await chooseStart(options, context, { capabilities, followed, rules, made }, signal);
  if (startBlock === null) return;
  const tradeSources = { chainId: capabilities.chainId, configured: options.configuredTrades };
  if (!(await settleTradeRules(context, made, tradeSources, signal))) return;
  settled.wake();
  if (rules.checkRoots && !(await proveHeaders(context, rules, startBlock, signal))) return;
  const roots = new RootCheck(rules.headerProof);

  const pool = new BackfillWorkerPool(options.index.backfillWorkers, { node: from, rules }, calls, log);
  const watched = { wsUrl: from.ws, pollMs: options.index.pollMs, chainId: capabilities.chainId };
  const headWatch = watchHeads(context, watched, signal);
  const commitSizer = new AdaptiveCommitSize({
    maxTransfers: options.index.batchTransfers,
    memoryBytes: options.index.backfillMemoryMb * 2 ** 20,
    walBytes: () => walLimit(freeDiskBytes(options.indexPath)),
  });
  const others = new OtherNodes(otherNodes(options, from), from, calls, {
    rules,
    chainId: capabilities.chainId,
  });
  const load = (from: number, to: number, loadSignal: AbortSignal, isHere: boolean) =>
    suspects.load({ from, to, client, others, rules, signal: loadSignal }, (tolerance) =>
      isHere
        ? loadRange(client, { ...rules, tolerance }, from, to, loadSignal, roots)
        : pool.load(from, to, loadSignal, tolerance),
    );
  const untraced = new UntracedBlocks(
    {
      load: async (number, signal) => (await load(number, number, signal, true))[0]!,
      loadElsewhere: (number, signal) => others.load(number, signal),
      isAtHead: (number) => (progress.status.nodeHead ?? 0) - number <= options.index.readyLag,
      onGap: gapLog(log),
      ...options.index,
    },
    progress.status.untraced?.reasons.map(({ reason }) => reason),
  );
  let isFirst = true;
  const pipeline = new Pipeline(
    (from, to, rangeSignal) => {
      // The first range waits for no thread to start, so that blocks are stored even if another node is chosen soon.
      const isHere = isFirst || isNearHead(progress, from);
      isFirst = false;
      return load(from, to, rangeSignal, isHere);
    },
    {
      depth: PIPELINE_DEPTH,
      maxDepth: MAX_PIPELINE_DEPTH,
      batchTransfers: commitSizer.targetTransfers,
      firstRange,
      untraced,
    },
  );
  const { wrappedNative } = rules;
  const isFollowing = () => progress.status.phase === 'following';
  const { indexPath } = options;
  const refresh = new TokenRefresh();
  const background = startBackgroundTasks(
    {
      indexPath,
      from,
      store,
      calls,
      startBlock,
      wrappedNative,
      isFollowing,
      send,
      log,
      refresh,
      codeRequests,
    },
    signal,
  );
  const anchor = new AnchorWatch({ store, client, progress, finality, maxReorg }, signal);
  const isTagProved = () => anchor.isTagProved;
  const guard = new ChainGuard(store, client, { headTag, finality, isTagProved, maxReorg }, signal);
  const newestHeader = new NewestHeaderWatch(context, signal);
  try {
    await retryWriteAndReport(context, () => anchor.begin(), signal);
    const events = sync(
      {
        headTag,
        startBlock,
        local: {
          head() {
            store.checkFileIdentity(); // at every step, to detect a replaced file even between blocks
            return store.head();
          },
          hashAt: (number) => store.hashAt(number),
        },
        nodeHead: () => fetchNodeHead(client, followed, signal),
        guard,
        pipeline,
        waitForHead: (waitSignal) => headWatch.next(waitSignal),
        onNodeHead(number) {
          progress.setNodeHead(number);
          anchor.pollIfDue();
          newestHeader.pollIfDue();
        },
        onStepOutcome(error, failingMs, retryInMs) {
          if (error === null) reportSuccess(context);
          else if (!isMomentary(error, failingMs)) reportFailure(context, error, retryInMs);
        },
      },
      background.signal,
    );
    for await (const event of events) {
      await applyEvent(context, event, commitSizer, stop); // loaded blocks stay valid, whichever node is next
      pipeline.batchTransfers = commitSizer.targetTransfers;
      if (event.kind !== 'blocks') continue;
      for (const batch of event.batches) {
        if (isFollowing()) refresh.record(batch);
        releaseBatch(batch);
      }
    }
  } finally {
    pipeline.reset();
    await headWatch.close();
    await pool.close();
    await background.stop();
    await others.close();
  }
}

/**
 * The nodes to ask for traces that the node in use does not give. With a node for traces, that includes all of them.
 */
function otherNodes({ nodes, tracesHttp }: IndexerThreadOptions, { http }: NodeSource): string[] {
  return nodes.map((node) => node.http).filter((url) => tracesHttp !== '' || url !== http);
}

/**
 * Ranges to prefetch: about as much work as one commit, so that the backfill workers stay busy while a large commit
 * blocks the indexer. More would only cost memory.
 */
const PIPELINE_DEPTH = 48;

/** Most prefetched ranges for large commits. They wait in memory, and the chain may become denser meanwhile. */
const MAX_PIPELINE_DEPTH = 4_096;

/**
 * Within this many blocks of the head, the indexer thread loads blocks itself, because another thread only adds delay.
 */
const INLINE_BLOCKS = 2;

function isNearHead({ status }: Progress, from: number): boolean {
  return (status.nodeHead ?? 0) - from <= INLINE_BLOCKS;
}
