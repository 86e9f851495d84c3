/** The writer thread's work from opening the index to closing it. */

import { releaseBatch } from '../decode/batch.ts';
import { FatalError, type StorageError, UpstreamError } from '../errors.ts';
import { backoffMs, pause } from '../lib/backoff.ts';
import { bytesToHex } from '../lib/hex.ts';
import { IndexWriter } from '../store/index-writer.ts';
import { type LoadRules, loadBlocks } from '../sync/load.ts';
import { loadRules } from '../sync/load-rules.ts';
import { Pipeline } from '../sync/pipeline.ts';
import { oldestAvailable } from '../sync/start.ts';
import { type SyncEvent, sync } from '../sync/sync.ts';
import type { BlockBatch, BlockRef, Capabilities } from '../types.ts';
import { RpcClient } from '../upstream/client.ts';
import { isBusy } from '../upstream/faults.ts';
import { chainId, header } from '../upstream/methods.ts';
import { probe } from '../upstream/probe.ts';
import { startBackground } from './background.ts';
import { CallRecorder } from './calls.ts';
import { Checkpoints } from './checkpoints.ts';
import { CommitSize } from './commit-size.ts';
import { HeadWatch } from './heads.ts';
import { LoaderPool } from './loader-pool.ts';
import { Progress } from './progress.ts';
import type { Send, WriterOptions } from './protocol.ts';
import { untilStored } from './storage.ts';

/** Between two status reports, milliseconds. */
const REPORT_MS = 250;

const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;

/** Indexes until the signal aborts. Throws FatalError when it cannot go on; the index is closed either way. */
export async function runIndexer(options: WriterOptions, send: Send, signal: AbortSignal): Promise<void> {
  const store = new IndexWriter(options.indexPath, { cacheMb: options.index.cacheMb });
  const progress = new Progress(options.index.readyLag);
  progress.opened(store.head(), store.transferCount(), store.chain()?.startBlock ?? null);
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

interface Parts {
  store: IndexWriter;
  checkpoints: Checkpoints;
  progress: Progress;
  client: RpcClient;
  calls: CallRecorder;
  send: Send;
}

/** Connects, chooses the start, and stores what the sync yields. */
async function follow(options: WriterOptions, parts: Parts, signal: AbortSignal): Promise<void> {
  const { store, progress, client, send } = parts;
  const capabilities = await connect(options, parts, signal);
  if (capabilities === null) return;
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
  /** Whether something else may stand behind the node's address than before. */
  let doubted = false;
  try {
    const events = sync(
      {
        headTag: capabilities.headTag,
        startBlock,
        local: {
          head() {
            store.checkPlace(); // at every step, so that it shows while no block is written
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
      if (doubted || event.kind === 'reorg') await requireSameChain(parts, signal);
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
 * Ranges fetched ahead. While a large commit blocks the writer the loaders work on, so there must be enough to do: about
 * what one commit takes. More only fills memory.
 */
const PIPELINE_DEPTH = 48;

/** Ranges up to this many blocks are loaded in the writer thread: at the head a hop to another thread only costs time. */
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

/** Probes the node until it answers; null when stopped before. Refuses a node on another chain than the index. */
async function connect(
  options: WriterOptions,
  parts: Parts,
  signal: AbortSignal,
): Promise<Capabilities | null> {
  return untilAnswered(parts, signal, async () => {
    const capabilities = await probe(
      parts.client,
      { traces: options.index.traces, head: options.index.head },
      signal,
    );
    refuseOtherChain(parts.store, capabilities.chainId);
    parts.progress.connected(capabilities);
    parts.send({ kind: 'log', level: 'info', msg: 'connected to the node', facts: { ...capabilities } });
    return capabilities;
  });
}

/** Another chain behind the address of the node looks like a reorg of everything, or goes on where the two are the same. */
async function requireSameChain(parts: Parts, signal: AbortSignal): Promise<void> {
  const found = await untilAnswered(parts, signal, () => chainId(parts.client, signal));
  if (found !== null) refuseOtherChain(parts.store, found);
}

function refuseOtherChain(store: IndexWriter, found: number): void {
  const indexed = store.chain();
  if (indexed === null || indexed.chainId === found) return;
  throw new FatalError(
    `the index is of chain ${indexed.chainId} but the node is on chain ${found}; use another data_dir or another node`,
  );
}

/** The index's first block: what it was begun with, or the configured start as far as the node still has it. */
async function chooseStart(
  options: WriterOptions,
  parts: Parts,
  capabilities: Capabilities,
  rules: LoadRules,
  signal: AbortSignal,
): Promise<number | null> {
  const { store, client, progress, send } = parts;
  const begun = store.chain();
  // An index without blocks was begun at one that the node may have pruned meanwhile.
  if (begun !== null && store.head() !== null) {
    warnOfOtherStart(options.index.startBlock, begun.startBlock, send);
    return begun.startBlock;
  }
  /** What prunes goes on pruning: as far again as the chain went during the search stays out of its reach. */
  const aheadOfPruning = async (oldest: number, headBefore: number) => {
    const head = await nodeHead(client, capabilities.headTag, signal);
    return Math.min(head.number, oldest + 2 * Math.max(0, head.number - headBefore));
  };
  const chosen = await untilAnswered(parts, signal, async () => {
    const head = await nodeHead(client, capabilities.headTag, signal);
    const { startBlock } = options.index;
    const wanted = startBlock === 'earliest' ? 0 : startBlock === 'latest' ? head.number : startBlock;
    const oldest = await oldestAvailable(wanted, head.number, (number, patiently) =>
      isAvailable(client, rules, number, patiently ? AVAILABLE_TRIES : 1, signal),
    );
    const first = oldest === wanted ? oldest : await aheadOfPruning(oldest, head.number);
    if (first !== wanted) {
      send({
        kind: 'log',
        level: 'warn',
        msg: 'the node has pruned the wanted start; indexing begins at its oldest block',
        facts: { wanted, first, advice: rules.traces === null ? null : TRACES_ADVICE },
      });
    }
    return first;
  });
  if (chosen === null) return null;
  if (!(await whenStored(parts, () => store.setChain(capabilities.chainId, chosen), signal))) return null;
  progress.status.startBlock = chosen;
  return chosen;
}

/** The start of an index cannot be moved; one that is configured otherwise is not passed over in silence. */
function warnOfOtherStart(wanted: WriterOptions['index']['startBlock'], begun: number, send: Send): void {
  if (typeof wanted !== 'number' || wanted === begun) return;
  send({
    kind: 'log',
    level: 'warn',
    msg: 'the index begins at another block than index.start_block, which counts for a new index only',
    facts: { wanted, first: begun },
  });
}

/** A node that is no archive forgets the state that tracing takes long before it forgets blocks. */
const TRACES_ADVICE = 'with index.traces = false older blocks may be had, without internal transfers';

/** Runs until the node gives a usable answer, with growing pauses; null when the signal aborts first. */
async function untilAnswered<T>(parts: Parts, signal: AbortSignal, ask: () => Promise<T>): Promise<T | null> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof UpstreamError)) throw error;
      const wait = backoffMs(attempt, RETRY_MIN_MS, RETRY_MAX_MS);
      noteTrouble(parts, error, wait);
      await pause(wait, signal);
    }
  }
  return null;
}

async function nodeHead(
  client: RpcClient,
  tag: Capabilities['headTag'],
  signal: AbortSignal,
): Promise<BlockRef> {
  const head = await header(client, tag, signal);
  if (head === null) throw new UpstreamError('inconsistent', `the node has no ${tag} block`);
  return head;
}

async function nodeHashAt(client: RpcClient, number: number, signal: AbortSignal): Promise<BlockRef['hash']> {
  const at = await header(client, number, signal);
  if (at === null) throw new UpstreamError('inconsistent', `the node has no block ${number} at present`);
  return at.hash;
}

/** Tries before a block counts as pruned, and the wait between them: a busy node, too, answers "not found". */
const AVAILABLE_TRIES = 3;
const AVAILABLE_RETRY_MS = 300;

/** Whether the node still has a block with its receipts and, where wanted, traces. Errors that may pass are thrown. */
async function isAvailable(
  client: RpcClient,
  rules: LoadRules,
  number: number,
  tries: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; attempt <= tries; attempt++) {
    if (attempt > 1) await pause(AVAILABLE_RETRY_MS, signal);
    try {
      await loadBlocks(client, rules, number, number, signal);
      return true;
    } catch (error) {
      if (!(error instanceof UpstreamError) || isBusy(error)) throw error;
      if (error.reason !== 'inconsistent' && error.reason !== 'rpc') throw error;
    }
  }
  return false;
}

async function storeEvent(
  parts: Parts,
  event: SyncEvent,
  commitSize: CommitSize,
  signal: AbortSignal,
): Promise<void> {
  if (event.kind === 'reorg') return rollBack(parts, event.to, signal);
  const { store, checkpoints, progress, send } = parts;
  store.prepare(event.batches); // while the last commit is still being moved from the log into the file
  await checkpoints.idle();
  const started = performance.now();
  let walBytes = 0;
  const append = (): void => {
    walBytes = store.append(event.batches);
  };
  if (!(await whenStored(parts, append, signal))) return;
  checkpoints.begin(walBytes);
  commitSize.note(event.batches, walBytes);
  const head = lastBlockOf(event.batches);
  progress.committed(event.batches, head, (performance.now() - started) / 1000);
  const from = event.batches[0]?.number[0] ?? head.number;
  const committedAt = performance.timeOrigin + performance.now();
  const { number: to, hash, timestamp } = head;
  send({ kind: 'watermark', watermark: { kind: 'committed', from, to, hash, timestamp, committedAt } });
}

async function rollBack(parts: Parts, to: number, signal: AbortSignal): Promise<void> {
  const { store, progress, send } = parts;
  const from = progress.status.head?.number ?? to;
  let head: ReturnType<IndexWriter['head']> = null;
  let transfers = 0;
  const roll = (): void => {
    store.rollback(to);
    head = store.head();
    transfers = store.transferCount();
  };
  if (!(await whenStored(parts, roll, signal))) return;
  progress.rolledBack(from - to, head, transfers);
  send({ kind: 'log', level: 'warn', msg: 'rolled back a reorg', facts: { from, to } });
  const hash = progress.status.head?.hash ?? null;
  send({ kind: 'watermark', watermark: { kind: 'rolled-back', to, hash } });
}

function lastBlockOf(batches: readonly BlockBatch[]): BlockRef & { timestamp: number } {
  const last = batches.at(-1);
  const i = (last?.blockCount ?? 0) - 1;
  if (last === undefined || i < 0) throw new Error('a batch without blocks was stored');
  return {
    number: last.number[i]!,
    hash: bytesToHex(last.hash.subarray(-32)),
    timestamp: last.timestamp[i]!,
  };
}

/** Runs a write until the disk takes it, showing why it does not; false when stopped before. */
function whenStored(parts: Parts, write: () => void, signal: AbortSignal): Promise<boolean> {
  return untilStored(write, (error, retryInMs) => noteTrouble(parts, error, retryInMs), signal);
}

/** Shows the trouble in the status; the log gets it when it is new and when it is over, not on every try. */
function noteTrouble(
  { progress, send }: Parts,
  error: UpstreamError | StorageError | null,
  retryInMs: number,
): void {
  const reason = error === null ? null : error.message;
  const known = progress.status.reason;
  if (reason !== null && known !== reason) {
    const isNode = error instanceof UpstreamError;
    send({
      kind: 'log',
      level: isNode ? 'warn' : 'error',
      msg: isNode ? 'the node gave no usable answer' : 'indexing is paused: the index cannot be written',
      facts: { reason, retryInMs },
    });
  }
  if (reason === null && known !== null)
    send({ kind: 'log', level: 'info', msg: 'indexing goes on', facts: { after: known } });
  progress.trouble(reason);
}
