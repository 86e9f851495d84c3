/** The writer thread's work from opening the index to closing it. */
import { releaseBatch } from '../decode/batch.ts';
import { IndexWriter } from '../store/index-writer.ts';
import { type LoadRules, loadBlocks } from '../sync/load-blocks.ts';
import { deriveLoadRules } from '../sync/load-rules.ts';
import { fetchNodeHash, fetchNodeHead } from '../sync/node-chain.ts';
import { Pipeline } from '../sync/pipeline.ts';
import { sync } from '../sync/sync.ts';
import { applyEvent } from './apply-event.ts';
import { startBackgroundTasks } from './background-tasks.ts';
import { CallRecorder } from './call-recorder.ts';
import { CheckpointClient } from './checkpoint-client.ts';
import { CommitSizer } from './commit-sizer.ts';
import { chooseStart, confirmSameChain, connect } from './connect.ts';
import { HeadWatch } from './head-watch.ts';
import type { IndexerContext } from './indexer-context.ts';
import { LoaderPool } from './loader-pool.ts';
import { newNodeClient } from './node-client.ts';
import { Progress, readContents } from './progress.ts';
import type { Send, WriterOptions } from './protocol.ts';
import { isMomentary, reportFailure } from './report-failure.ts';
import { tracesWarning } from './traces-warning.ts';
import { type WriterLog, writerLog } from './writer-log.ts';

/** Between two status reports, milliseconds. */
const REPORT_MS = 250;

/**
 * Indexes until the signal aborts; the serving thread holds the right to write. Throws FatalError when it cannot go on;
 * the index is closed either way.
 */
export async function runIndexer(options: WriterOptions, send: Send, signal: AbortSignal): Promise<void> {
  const store = new IndexWriter(options.indexPath, { cacheMb: options.index.cacheMb, isLockHeld: true });
  store.disableAutoCheckpoint();
  const progress = new Progress(options.index.readyLag);
  progress.setContents(readContents(store));
  progress.setStartBlock(store.chain()?.startBlock ?? null);
  // Before the timer: where the system gives no further thread, nothing may keep this one alive.
  const checkpoints = new CheckpointClient(options.indexPath);
  const calls = new CallRecorder();
  const log = writerLog(send);
  const report = (): void => {
    const { status, delta } = progress.takeReport();
    send({ kind: 'status', status, delta: { ...delta, calls: calls.drain() } });
  };
  const reportTimer = setInterval(report, REPORT_MS);
  const client = newNodeClient(options.node, calls);
  try {
    report();
    await runSync(options, { store, checkpoints, progress, client, calls, send, log }, signal);
  } finally {
    clearInterval(reportTimer);
    await checkpoints.close();
    await client.close();
    store.close();
    report();
  }
}

/** Connects, chooses the start, and stores the events of the sync. */
async function runSync(options: WriterOptions, context: IndexerContext, signal: AbortSignal): Promise<void> {
  const { store, progress, client, calls, log } = context;
  const capabilities = await connect(options, context, signal);
  if (capabilities === null) return;
  const warning = tracesWarning(progress.status, capabilities);
  if (warning !== null) log.warn(warning.fields, warning.msg);
  const rules = deriveLoadRules(capabilities, options.wrappedNative);
  const startBlock = await chooseStart(options, context, capabilities, rules, signal);
  if (startBlock === null) return;

  const pool = new LoaderPool(options.index.loaders, { node: options.node, rules }, calls);
  const headWatch = watchHeads(options, capabilities.chainId, log);
  const commitSizer = new CommitSizer(options.index.batchTransfers);
  const pipeline = new Pipeline(
    (from, to, rangeSignal) => loadRange(context, pool, rules, from, to, rangeSignal),
    { depth: PIPELINE_DEPTH, batchTransfers: commitSizer.targetTransfers },
  );
  const { wrappedNative } = rules;
  const isFollowing = () => progress.status.phase === 'following';
  const background = startBackgroundTasks(
    options,
    { store, calls, startBlock, wrappedNative, isFollowing, log },
    signal,
  );
  /** Whether another node may be at the node's address now. */
  let mustCheckChain = false;
  try {
    const events = sync(
      {
        headTag: capabilities.headTag,
        startBlock,
        local: {
          head() {
            store.checkFileIdentity(); // at every step, so that it is noticed even while no block is written
            return store.head();
          },
          hashAt: (number) => store.hashAt(number),
        },
        node: {
          head: () => fetchNodeHead(client, capabilities.headTag, signal),
          hashAt: (number) => fetchNodeHash(client, number, signal),
        },
        pipeline,
        waitForHead: (waitSignal) => headWatch.next(waitSignal),
        onNodeHead: (number) => progress.setNodeHead(number),
        onStepOutcome(error, failingMs, retryInMs) {
          mustCheckChain ||= error !== null;
          if (!isMomentary(error, failingMs)) reportFailure(context, error, retryInMs);
        },
      },
      background.signal,
    );
    for await (const event of events) {
      if ((mustCheckChain || event.kind === 'reorg') && !(await confirmSameChain(context, signal))) return;
      mustCheckChain = false;
      await applyEvent(context, event, commitSizer, signal);
      pipeline.batchTransfers = commitSizer.targetTransfers;
      if (event.kind === 'blocks') for (const batch of event.batches) releaseBatch(batch);
    }
  } finally {
    pipeline.reset();
    await headWatch.close();
    await pool.close();
    await background.stop();
  }
}

/** Begins to wait for heads, and says what keeps the node's WebSocket from telling them. */
function watchHeads({ node, index }: WriterOptions, chainId: number, log: WriterLog): HeadWatch {
  return new HeadWatch(node.ws, index.pollMs, {
    onLost: (message) => log.warn({ message }, 'the node announces no heads, polling instead'),
    onChainId: (other) => {
      if (other === chainId) return;
      log.error(
        { node_ws: other, node_http: chainId },
        'node_ws leads to another chain than node_http: streams tell of it; set both to the same node',
      );
    },
  });
}

/**
 * Ranges prefetched. While a large commit blocks the writer the loaders go on, so they need enough work: about as much as
 * one commit. More would only use memory.
 */
const PIPELINE_DEPTH = 48;

/** Ranges up to this many blocks are loaded in the writer thread: near the head another thread only adds delay. */
const INLINE_BLOCKS = 2;

function loadRange(
  context: IndexerContext,
  pool: LoaderPool,
  rules: LoadRules,
  from: number,
  to: number,
  signal: AbortSignal,
) {
  const behind = (context.progress.status.nodeHead ?? 0) - from;
  if (behind <= INLINE_BLOCKS) return loadBlocks(context.client, rules, from, to, signal);
  return pool.load(from, to, signal);
}
