/** The writer thread's work from opening the index to closing it. */
import { releaseBatch } from '../decode/batch.ts';
import { IndexWriter } from '../store/index-writer.ts';
import { type LoadRules, loadBlocks } from '../sync/load.ts';
import { loadRules } from '../sync/load-rules.ts';
import { nodeHashAt, nodeHead } from '../sync/node-chain.ts';
import { Pipeline } from '../sync/pipeline.ts';
import { sync } from '../sync/sync.ts';
import { RpcClient } from '../upstream/client.ts';
import { startBackground } from './background.ts';
import { CallRecorder } from './calls.ts';
import { Checkpoints } from './checkpoints.ts';
import { CommitSize } from './commit-size.ts';
import { chooseStart, connect, isSameChain } from './connect.ts';
import { HeadWatch } from './heads.ts';
import { LoaderPool } from './loader-pool.ts';
import type { Parts } from './parts.ts';
import { contentsOf, Progress } from './progress.ts';
import type { Send, WriterOptions } from './protocol.ts';
import { storeEvent } from './store-event.ts';
import { noteTrouble } from './trouble.ts';
import { tracesWarning } from './untraced.ts';

/** Between two status reports, milliseconds. */
const REPORT_MS = 250;

/** Indexes until the signal aborts. Throws FatalError when it cannot go on; the index is closed either way. */
export async function runIndexer(options: WriterOptions, send: Send, signal: AbortSignal): Promise<void> {
  const store = new IndexWriter(options.indexPath, { cacheMb: options.index.cacheMb });
  const progress = new Progress(options.index.readyLag);
  progress.opened(contentsOf(store), store.chain()?.startBlock ?? null);
  const calls = new CallRecorder();
  const report = (): void => {
    const { status, work } = progress.report();
    send({ kind: 'status', status, work: { ...work, calls: calls.take() } });
  };
  const reports = setInterval(report, REPORT_MS);
  const { http, timeoutMs, maxSockets, batch } = options.node;
  const client = new RpcClient({ url: http, timeoutMs, maxSockets, maxBatch: batch, onCall: calls.record });
  store.leaveCheckpoints();
  const checkpoints = new Checkpoints(options.indexPath);
  try {
    report();
    await follow(options, { store, checkpoints, progress, client, calls, send }, signal);
  } finally {
    clearInterval(reports);
    await checkpoints.close();
    await client.close();
    store.close();
    report();
  }
}

/** Connects, chooses the start, and stores the events of the sync. */
async function follow(options: WriterOptions, parts: Parts, signal: AbortSignal): Promise<void> {
  const { store, progress, client, send } = parts;
  const capabilities = await connect(options, parts, signal);
  if (capabilities === null) return;
  const warning = tracesWarning(progress.status, capabilities);
  if (warning !== null) send({ kind: 'log', level: 'warn', ...warning });
  const rules = loadRules(capabilities, options.wrappedNative);
  const startBlock = await chooseStart(options, parts, capabilities, rules, signal);
  if (startBlock === null) return;

  const pool = new LoaderPool(options.index.loaders, { node: options.node, rules }, parts.calls);
  const heads = new HeadWatch(options.node.ws, options.index.pollMs, (message) =>
    send({
      kind: 'log',
      level: 'warn',
      msg: 'the node announces no heads, polling instead',
      facts: { message },
    }),
  );
  const commitSize = new CommitSize(options.index.batchTransfers);
  const pipeline = new Pipeline((from, to, abort) => loadOne(parts, pool, rules, from, to, abort), {
    depth: PIPELINE_DEPTH,
    batchTransfers: commitSize.transfers,
  });
  const background = startBackground(
    options,
    {
      store,
      calls: parts.calls,
      startBlock,
      wrappedNative: rules.wrappedNative,
      isFollowing: () => progress.status.phase === 'following',
      send,
    },
    signal,
  );
  /** Whether another node may be at the node's address now. */
  let doubted = false;
  try {
    const events = sync(
      {
        headTag: capabilities.headTag,
        startBlock,
        local: {
          head() {
            store.checkPlace(); // at every step, so that it is noticed even while no block is written
            return store.head();
          },
          hashAt: (number) => store.hashAt(number),
        },
        node: {
          head: () => nodeHead(client, capabilities.headTag, signal),
          hashAt: (number) => nodeHashAt(client, number, signal),
        },
        pipeline,
        nextHead: (abort) => heads.next(abort),
        onNodeHead: (number) => progress.nodeHead(number),
        onTrouble(error, retryInMs) {
          doubted = true;
          noteTrouble(parts, error, retryInMs);
        },
      },
      background.signal,
    );
    for await (const event of events) {
      if ((doubted || event.kind === 'reorg') && !(await isSameChain(parts, signal))) return;
      doubted = false;
      await storeEvent(parts, event, commitSize, signal);
      pipeline.batchTransfers = commitSize.transfers;
      if (event.kind === 'blocks') for (const batch of event.batches) releaseBatch(batch);
    }
  } finally {
    pipeline.reset();
    await heads.close();
    await pool.close();
    await background.end();
  }
}

/**
 * Ranges prefetched. While a large commit blocks the writer the loaders go on, so they need enough work: about as much as
 * one commit. More would only use memory.
 */
const PIPELINE_DEPTH = 48;

/** Ranges up to this many blocks are loaded in the writer thread: near the head another thread only adds delay. */
const INLINE_BLOCKS = 2;

function loadOne(
  parts: Parts,
  pool: LoaderPool,
  rules: LoadRules,
  from: number,
  to: number,
  abort: AbortSignal,
) {
  const behind = (parts.progress.status.nodeHead ?? 0) - from;
  if (behind <= INLINE_BLOCKS) return loadBlocks(parts.client, rules, from, to, abort);
  return pool.load(from, to, abort);
}
